package parts

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// A part is one for all that use it: it begins once, and ends with the last of them.
func TestPartsEndWithTheLastThatUsesThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ps := New()
		var told []string
		made := func() (*int, Life, error) {
			return new(int), Life{
				Run: func(ctx context.Context) error {
					told = append(told, "runs")
					<-ctx.Done()
					told = append(told, "ran")
					return nil
				},
				End: func(context.Context) { told = append(told, "ended") },
			}, nil
		}
		var one, two, three []string
		a, _ := Share(ps, &one, "key", made)
		ctx, stop := context.WithCancel(t.Context())
		ps.Begin(ctx)
		b, _ := Share(ps, &two, "key", made)
		ps.BeginNew()
		synctest.Wait()
		if a != b || len(told) != 1 {
			t.Errorf("the same part: %v, which %v", a == b, told)
		}
		ps.Drop(one)
		if len(told) != 1 {
			t.Errorf("with one user left: %v", told)
		}
		ps.Drop(two)
		synctest.Wait()
		if len(told) != 3 || told[2] != "ended" {
			t.Errorf("with none left: %v", told)
		}
		if c, _ := Share(ps, &three, "key", made); c == a {
			t.Error("a part that has ended is used")
		}
		ps.BeginNew()
		synctest.Wait()
		stop()
		ps.Wait()
		ps.Close()
		if len(told) != 6 {
			t.Errorf("at the end of the process: %v", told)
		}
		ps.Drop(three)
	})
}

// Who cannot have all that it needs leaves nothing in use.
func TestPartsOfWhoFailsAreDropped(t *testing.T) {
	ps := New()
	broken := errors.New("broken")
	var taken []string
	_, _ = Share(ps, &taken, "good", func() (int, Life, error) { return 1, Life{}, nil })
	if _, err := Share(ps, &taken, "bad", func() (int, Life, error) { return 0, Life{}, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	ps.Drop(taken)
	if len(ps.all) != 0 {
		t.Errorf("left: %v", ps.all)
	}
}

// A part that is read from a disk which does not answer keeps nobody from asking for the others, or from going.
func TestNobodyWaitsForAPartThatIsBeingMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ps, disk := New(), make(chan struct{})
		var one, two []string
		if _, err := Share(ps, &one, "there", func() (int, Life, error) { return 1, Life{Here: func() int { return 7 }}, nil }); err != nil {
			t.Fatal(err)
		}
		go Share(ps, &two, "slow", func() (int, Life, error) { <-disk; return 2, Life{}, nil })
		synctest.Wait()
		if !ps.mu.TryLock() {
			t.Fatal("all wait for the disk")
		}
		ps.mu.Unlock()
		if got := ps.Here(); got != 7 {
			t.Errorf("%d calls are here, want 7", got)
		}
		ps.Drop(one)
		close(disk)
		synctest.Wait()
		if len(two) != 1 {
			t.Errorf("taken is %v, want the one that was made", two)
		}
		ps.Close()
	})
}
