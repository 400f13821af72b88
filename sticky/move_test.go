package sticky

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage/redistest"
)

// Of those who move a session one wins, and all are told of it.
func TestOneMoveWins(t *testing.T) {
	const movers = 16
	server := redistest.Start(t)
	one, two := onRedis(t, server), onRedis(t, server)
	one.mustBind(t, session("1"), "a", 0)
	from, err := one.Reload(t.Context(), session("1"))
	if err != nil {
		t.Fatal(err)
	}
	var moving sync.WaitGroup
	var told [movers]Binding
	var won [movers]bool
	for i := range movers {
		moving.Go(func() {
			b := []*berth{one, two}[i%2]
			binding, err := b.Move(t.Context(), session("1"), from, Binding{Upstream: "b", Alias: fmt.Sprint(i)})
			if err != nil && !errors.Is(err, ErrMoved) {
				t.Errorf("Move: %v", err)
			}
			told[i], won[i] = binding, err == nil
		})
	}
	moving.Wait()
	winners := 0
	for i := range movers {
		if won[i] {
			winners++
		}
		if !told[i].SameOwner(told[0]) {
			t.Errorf("mover %d was told of %v, mover 0 of %v", i, told[i], told[0])
		}
	}
	if winners != 1 {
		t.Errorf("winners: got %d, want 1", winners)
	}
}

// A refresh is no other owner: who moves the session goes on over it.
func TestRefreshDoesNotStopAMove(t *testing.T) {
	server := redistest.Start(t)
	b := onRedis(t, server)
	b.mustBind(t, session("1"), "a", 0)
	from := b.owns(t, "a", session("1"), SourceLRU)
	later := from
	later.Expires = later.Expires.Add(time.Hour)
	if err := b.refresher.apply(t.Context(), entry{key: session("1"), binding: later}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Move(t.Context(), session("1"), from, Binding{Upstream: "b"}); err != nil {
		t.Errorf("Move: %v", err)
	}
}

// What was read before a move is not written over it, though the session came back to
// the same upstream: there it has another name.
func TestRefreshFromBeforeAMoveIsDropped(t *testing.T) {
	server := redistest.Start(t)
	one, two := onRedis(t, server), onRedis(t, server)
	one.mustBind(t, session("1"), "a", 0)
	before := two.owns(t, "a", session("1"), SourceStore)
	if _, err := one.Move(t.Context(), session("1"), before, Binding{Upstream: "a", Alias: "new"}); err != nil {
		t.Fatal(err)
	}
	before.Expires = before.Expires.Add(time.Hour)
	two.Keep(session("1"), before)
	realtest.Eventually(t, "the refresh is dropped", func() bool {
		binding, _, err := two.Lookup(t.Context(), session("1"))
		return err == nil && binding.Alias == "new"
	})
	if now, err := one.Reload(t.Context(), session("1")); err != nil || now.Alias != "new" {
		t.Errorf("the store says %+v, %v; want the move", now, err)
	}
}

// A session that has ended is not moved, nor one that the store never heard of.
func TestOnlyABoundSessionMoves(t *testing.T) {
	b := newBerth(t, "memory:", Options{}, 0)
	b.mustBind(t, session("1"), "a", 0)
	from := b.owns(t, "a", session("1"), SourceBound)
	b.Unbind(t.Context(), session("1"))
	if _, err := b.Move(t.Context(), session("1"), from, Binding{Upstream: "b"}); !errors.Is(err, ErrUnknown) {
		t.Errorf("Move: got %v, want ErrUnknown", err)
	}
	b.unknown(t, session("1"))
}

// The handshake lives as long as the session is used, and not for ever after; and it
// is not written each time that the session is.
func TestHandshakeLivesWithItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const idle = time.Hour
		b := inMemory(t, Options{SessionIdle: idle})
		key := session("1")
		if err := b.BindBeside(t.Context(), key, Binding{Upstream: "a"}, 0, Beside{Handshake: "hello"}); err != nil {
			t.Fatal(err)
		}
		for range 50 {
			pass(idle / 10)
			b.Touch(key, b.owns(t, "a", key, SourceBound))
		}
		pass(0)
		if got, err := b.Handshake(t.Context(), key); err != nil || string(got) != "hello" {
			t.Fatalf("after five lives of the session: got %q, %v", got, err)
		}
		if n := b.version(t, key.Handshake()); n > 7 {
			t.Errorf("written %d times, want once for each life of the session", n)
		}
		pass(2*idle + time.Minute)
		if _, err := b.Handshake(t.Context(), key); !errors.Is(err, ErrUnknown) {
			t.Errorf("of a session out of use: got %v, want ErrUnknown", err)
		}
	})
}

// Two berths that add to one handshake lose nothing.
func TestRevisionsOfAHandshakeLoseNothing(t *testing.T) {
	const each = maxRevisions - 1 // nobody can lose more often than the other writes
	server := redistest.Start(t)
	one, two := onRedis(t, server), onRedis(t, server)
	if err := one.BindBeside(t.Context(), session("1"), Binding{Upstream: "a"}, 0, Beside{Handshake: "h"}); err != nil {
		t.Fatal(err)
	}
	var revising sync.WaitGroup
	for _, b := range []*berth{one, two} {
		revising.Go(func() {
			for range each {
				err := b.ReviseHandshake(t.Context(), session("1"), "", func(h []byte) ([]byte, error) { return append([]byte("x"), h...), nil })
				if err != nil {
					t.Errorf("Revise: %v", err)
				}
			}
		})
	}
	revising.Wait()
	if got, err := two.Handshake(t.Context(), session("1")); err != nil || len(got) != 1+2*each {
		t.Errorf("got %d revisions, %v; want %d", len(got)-1, err, 2*each)
	}
	if err := one.ReviseHandshake(t.Context(), session("1"), "", func([]byte) ([]byte, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := two.Handshake(t.Context(), session("1")); !errors.Is(err, ErrUnknown) {
		t.Errorf("a dropped one: got %v, want ErrUnknown", err)
	}
}

// A use of a session that was noted while the session moved does not lead back to where it was.
func TestUseNotedDuringAMoveDoesNotUndoIt(t *testing.T) {
	b := newBerth(t, "memory:", Options{Near: 10}, 0)
	b.mustBind(t, session("s"), "a", 0)
	read := b.owns(t, "a", session("s"), SourceBound)
	if _, err := b.Move(t.Context(), session("s"), read, Binding{Upstream: "b"}); err != nil {
		t.Fatalf("Move: %v", err)
	}
	b.Keep(session("s"), read)
	b.owns(t, "b", session("s"), SourceBound)
}

// A move whose confirmation was lost is met by its own repetition.
func TestMoveMeetsItsOwn(t *testing.T) {
	server := redistest.Start(t)
	line := redistest.Relay{MuteAfter: `"alias":"new"`, Muted: make(chan struct{})}
	line.Start(t, server.Addr)
	b := newBerth(t, "redis://"+line.Addr()+"/0", Options{Near: 1000}, 0)
	b.run(t)
	realtest.Eventually(t, "the store is healthy", b.store.Healthy)
	b.mustBind(t, session("1"), "a", 0)
	from := b.owns(t, "a", session("1"), SourceLRU)
	b.mustBind(t, session("2"), "a", 0)
	if _, err := b.Move(t.Context(), session("2"), from, Binding{Upstream: "b"}); err != nil {
		t.Fatal(err) // the server has the script from then on
	}
	go func() {
		<-line.Muted
		time.Sleep(50 * time.Millisecond) // by then the answer has been thrown away
		line.Mute.Store(false)
	}()
	now, err := b.Move(t.Context(), session("1"), from, Binding{Upstream: "b", Alias: "new"})
	if err != nil || now.Upstream != "b" || now.Alias != "new" {
		t.Fatalf("Move: got %v, %v, want the session at b", now, err)
	}
	b.owns(t, "b", session("1"), SourceLRU)
}
