package limit_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/limit"
)

func TestBucketsHoldTenSecondsWorthForEachCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := limit.NewBuckets(2)
		for i := range 2 * limit.Burst {
			if wait := b.Take("a", 1); wait != 0 {
				t.Fatalf("token %d: told to wait %v", i, wait)
			}
		}
		wait := b.Take("a", 1)
		if wait <= 0 || wait > 510*time.Millisecond {
			t.Errorf("empty bucket: told to wait %v, want half a second", wait)
		}
		if got := b.Wait("a"); got != wait {
			t.Errorf("got %v, want %v as before: asking takes nothing", got, wait)
		}
		if wait := b.Take("b", 1); wait != 0 {
			t.Errorf("another caller waits %v for it", wait)
		}
		time.Sleep(wait)
		if wait := b.Take("a", 1); wait != 0 {
			t.Errorf("after the time told: told to wait %v more", wait)
		}
	})
}

// Who owes what was asked for at once may do all the same what takes none.
func TestBucketsHoldUpNobodyWhoTakesNone(t *testing.T) {
	b := limit.NewBuckets(1)
	b.Take("a", 1005)
	if wait := b.Take("a", 0); wait != 0 {
		t.Errorf("told to wait %v", wait)
	}
	if wait := b.WaitFor("a", 0); wait != 0 {
		t.Errorf("would be told to wait %v", wait)
	}
	if b.Wait("a") == 0 {
		t.Error("owes nothing")
	}
}

// Many at once, as in a batch, are no way around the rate.
func TestBucketsOweWhatIsTakenBeyondWhatTheyHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := limit.NewBuckets(1)
		if wait := b.Take("a", 1005); wait != 0 {
			t.Errorf("a full bucket: told to wait %v", wait)
		}
		if got := b.Wait("a"); got != 996*time.Second {
			t.Errorf("after 1005 of 10: told to wait %v for one, want 996s", got)
		}
		wait := b.Take("a", 1000)
		if wait != 1005*time.Second {
			t.Fatalf("a bucket that owes: told to wait %v for a thousand, want until it is full in 1005s", wait)
		}
		time.Sleep(wait)
		if wait := b.Take("a", 1000); wait != 0 {
			t.Errorf("after the time told: told to wait %v more", wait)
		}
	})
}

func TestNoBucketsBoundNothing(t *testing.T) {
	if b := limit.NewBuckets(0); b.Take("a", 1) != 0 || b.Wait("a") != 0 {
		t.Error("told to wait")
	}
}

// TestBucketsRememberTheMostRecentCallers: whoever makes callers up costs no memory.
func TestBucketsRememberTheMostRecentCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := limit.NewBuckets(0.1)
		b.Take("old", 1)
		for i := range 9_999 {
			b.Take(strconv.Itoa(i), 1)
		}
		if b.Take("old", 1) == 0 {
			t.Fatal("forgotten too early")
		}
		for i := range 10_000 {
			b.Take(strconv.Itoa(i), 1)
		}
		if b.Take("old", 1) != 0 {
			t.Error("still remembered, beside 10,000 more recent ones")
		}
	})
}
