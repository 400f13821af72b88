package sticky

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage/redistest"
)

// begin opens a session of caller's with a handshake, if there is room for it.
func (b *berth) begin(t *testing.T, caller, id, handshake string) bool {
	t.Helper()
	if !b.MakeRoom(t.Context(), caller, len(handshake)) {
		return false
	}
	if err := b.BindBeside(t.Context(), session(id), Binding{Upstream: "a"}, 0, Beside{Handshake: handshake, Caller: caller}); err != nil {
		t.Fatalf("BindBeside %s: %v", id, err)
	}
	return true
}

// most begins sessions of caller's until there is no room, and returns how many there are.
func (b *berth) most(t *testing.T, caller, handshake string) (n int) {
	t.Helper()
	for ; b.begin(t, caller, fmt.Sprint(caller, n), handshake); n++ {
		if n > 10_000 {
			t.Fatalf("%s has begun %d sessions", caller, n)
		}
	}
	return n
}

// One caller opened sessions, 64 KiB of its own choice each, until the store was full, and no caller's calls became tasks any more.
func TestOneCallersSessionsTakeAShareOfTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const share = 64 << 10
		b := inMemory(t, Options{PerCaller: share})
		large := strings.Repeat("h", 10<<10)
		if n := b.most(t, "eve", large); n != share/(len(large)+sessionSize+4) {
			t.Errorf("eve has begun %d sessions", n)
		}
		if n := b.most(t, "mallory", ""); n < 2 || n > share/sessionSize {
			t.Errorf("mallory has begun %d sessions", n)
		}
		if !b.begin(t, "alice", "alices", large) {
			t.Error("alice is turned away as well")
		}
	})
}

// What a session has grown to meanwhile counts; what does not fit is not kept, and the session goes on without.
func TestAHandshakeThatDoesNotFitIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inMemory(t, Options{PerCaller: 8 << 10})
		for _, id := range []string{"one", "two"} {
			b.begin(t, "eve", id, "h")
		}
		grow := func(id string, size int) {
			grown := strings.Repeat("h", size)
			if err := b.ReviseHandshake(t.Context(), session(id), "eve", func([]byte) ([]byte, error) { return []byte(grown), nil }); err != nil {
				t.Errorf("ReviseHandshake %s: %v", id, err)
			}
		}
		kept := func(id string) bool {
			_, err := b.Handshake(t.Context(), session(id))
			return err == nil
		}
		grow("one", 5<<10)
		grow("two", 2<<10)
		if !kept("one") || kept("two") {
			t.Errorf("kept of the first session: %v, of the second: %v, want the first alone", kept("one"), kept("two"))
		}
		late := Beside{Handshake: strings.Repeat("h", 4<<10), Caller: "eve"}
		if err := b.BindBeside(t.Context(), session("three"), Binding{Upstream: "a"}, 0, late); err != nil || kept("three") {
			t.Errorf("one that was let in meanwhile: %v, its handshake is kept: %v", err, kept("three"))
		}
		if at := b.owns(t, "a", session("three"), SourceBound); !at.Kept.IsZero() {
			t.Error("it says that its handshake is kept")
		}
		b.Amend(t.Context(), session("three"), Binding{Upstream: "a", Version: "v"}, late.Handshake, "eve")
		if kept("three") {
			t.Error("its handshake is kept, once its version is known")
		}
	})
}

// Who may have no more gets room as sessions end, and as nobody uses them.
func TestIdleSessionsGiveWayToNewOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inMemory(t, Options{PerCaller: 64 << 10})
		n := b.most(t, "eve", "h")
		b.Unbind(t.Context(), session("eve1"))
		pass(lookEvery)
		if !b.begin(t, "eve", "instead", "h") || b.begin(t, "eve", "another", "h") {
			t.Error("one that has ended makes room for one other")
		}
		pass(idleEnough - time.Minute)
		b.Touch(session("eve0"), b.owns(t, "a", session("eve0"), SourceBound))
		synctest.Wait()
		if b.begin(t, "eve", "another", "h") {
			t.Error("one gave way that was in use half an hour ago")
		}
		pass(2 * time.Minute)
		if !b.begin(t, "eve", "another", "h") {
			t.Error("none gives way that nobody has used for half an hour")
		}
		b.owns(t, "a", session("eve0"), SourceBound)
		gone := 0
		for i := range n {
			id := session(fmt.Sprint("eve", i))
			if b.finds(t, "a", id) || i == 1 {
				continue
			}
			gone++
			if _, err := b.Handshake(t.Context(), id); !errors.Is(err, ErrUnknown) {
				t.Errorf("the handshake of one that gave way: %v", err)
			}
		}
		if gone != 1 {
			t.Errorf("%d gave way, want 1", gone)
		}
		for i := range 2 * n {
			if !b.begin(t, "eve", fmt.Sprint("more", i), "h") {
				if i < n-4 {
					t.Errorf("no room for session %d of those that may replace %d idle ones", i, n)
				}
				break
			}
		}
	})
}

// A session may be ended, or be used, at another berth: its share is where it began.
func TestAFullShareHearsOfOtherBerths(t *testing.T) {
	server := redistest.Start(t)
	one, two := onRedis(t, server), onRedis(t, server)
	one.SetPerCaller(16 << 10)
	n := one.most(t, "eve", "h")
	if n < mostLookedAt {
		t.Fatalf("only %d sessions", n)
	}
	two.Unbind(t.Context(), session("eve3"))
	ended := one.room.look(t.Context(), session("eve3"), time.Now())
	if ended != nil || !one.room.shares.Fits("eve", session("new"), sizeOf(session("new"), "h")) {
		t.Errorf("one that was ended elsewhere counts still: %v", ended)
	}
	if err := one.room.look(t.Context(), session("eve4"), time.Now().Add(-time.Hour)); err != nil || !one.finds(t, "a", session("eve4")) {
		t.Errorf("one that is used elsewhere gave way: %v", err)
	}
}

// Values of an affinity count as sessions do; one without room is not bound, and its call goes where others go.
func TestValuesOfAnAffinityCountForTheirCallersShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inMemory(t, Options{PerCaller: 16 << 10})
		hold := func(caller, id string) error {
			key := Key{Kind: Affinity, Pool: "p", ID: id}
			return b.BindBeside(t.Context(), key, Binding{Upstream: "a"}, 0, Beside{Caller: caller})
		}
		n := 0
		for ; hold("eve", fmt.Sprint("cart ", n)) == nil; n++ {
			if n > 1000 {
				t.Fatal("it has no end")
			}
		}
		if err := hold("eve", "one more"); n == 0 || !errors.Is(err, ErrNoRoom) {
			t.Errorf("after %d: %v", n, err)
		}
		if got := b.bound(t, outcomeNoRoom); got != 2 {
			t.Errorf("%d are counted as such, want 2", got)
		}
		if err := hold("alice", "hers"); err != nil {
			t.Errorf("another caller: %v", err)
		}
		pass(idleEnough + time.Second)
		if err := hold("eve", "one more"); err != nil {
			t.Errorf("with idle ones: %v", err)
		}
	})
}

// What the store has forgotten counts no more, though its caller never comes again; what is in use does.
func TestWhatIsForgottenCountsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inMemory(t, Options{PerCaller: 64 << 10, SessionIdle: time.Hour})
		b.most(t, "eve", "h")
		pass(30 * time.Minute)
		b.Touch(session("eve3"), b.owns(t, "a", session("eve3"), SourceBound))
		pass(30*time.Minute + 2*sweepEvery)
		if key, _, ok := b.room.shares.Oldest("eve"); !ok || key != session("eve3") {
			t.Errorf("one in use: got %v, %v", key, ok)
		}
		pass(time.Hour)
		if _, _, ok := b.room.shares.Oldest("eve"); ok {
			t.Error("it counts")
		}
	})
}
