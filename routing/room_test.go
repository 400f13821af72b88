package routing_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
	"berth/routing"
)

// narrow is a pool of a and b with room for so many at each, and for a queue.
func narrow(most, queue int) *routing.Pool {
	return routing.NewPool(routing.PoolOptions{
		Name: "p", Upstreams: upstreams("a", "b"), Probe: mute,
		Settings: routing.Settings{MaxInFlight: most, Queue: queue, QueueTimeout: 10 * time.Second},
	})
}

// of is work of a caller's.
func of(caller string) routing.Work { return routing.Work{Era: mcp.EraModern, Caller: caller} }

// got is what one who waited was given.
type got struct {
	caller string
	lease  *routing.Lease
	err    error
}

// queue has so many wait for caller, in order, and returns where what they get is told.
func queue(ctx context.Context, p *routing.Pool, told chan got, caller string, n int) {
	for range n {
		go func() {
			lease, err := p.Await(ctx, of(caller), nil)
			told <- got{caller, lease, err}
		}()
		synctest.Wait()
	}
}

// fill takes all room, and returns the leases.
func fill(t *testing.T, p *routing.Pool, n int) (leases []*routing.Lease) {
	t.Helper()
	for range n {
		lease, err := p.Await(t.Context(), of("first"), nil)
		if err != nil {
			t.Fatalf("Await: %v", err)
		}
		leases = append(leases, lease)
	}
	return leases
}

func TestWorkWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := narrow(2, 10)
		held := fill(t, p, 4)
		for _, u := range p.Upstreams() {
			if u.Busy() != 2 {
				t.Errorf("%s: got %d, want 2", u.Name, u.Busy())
			}
		}
		told := make(chan got, 10)
		queue(t.Context(), p, told, "late", 1)
		if len(told) > 0 {
			t.Fatalf("got %v while all were full", <-told)
		}
		time.Sleep(9 * time.Second)
		held[0].Release()
		synctest.Wait()
		g := <-told
		if g.err != nil || !g.lease.Upstream.Is(held[0].Upstream) {
			t.Errorf("got %v, %v, want the place that was given back", g.lease, g.err)
		}
	})
}

func TestWhoWaitsTooLongIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := narrow(1, 1)
		fill(t, p, 2)
		begun := time.Now()
		told := make(chan got, 1)
		queue(t.Context(), p, told, "late", 1)
		if _, err := p.Await(t.Context(), of("later"), nil); !errors.Is(err, routing.ErrFull) {
			t.Errorf("the queue is full: got %v", err)
		}
		if g := <-told; !errors.Is(g.err, routing.ErrLate) || time.Since(begun) != 10*time.Second {
			t.Errorf("got %v after %v", g.err, time.Since(begun))
		}
		if u := p.Find("a"); u.InFlight() != 1 {
			t.Errorf("got %d in flight, want 1", u.InFlight())
		}
	})
}

// What is owned goes on, and so does what berth itself has to send: they count, and do not wait.
func TestWhatIsOwnedNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := narrow(1, 10)
		fill(t, p, 2)
		own := p.Own(p.Find("a"))
		held, err := p.Pick(work, nil)
		if err != nil || p.Find("a").Busy()+p.Find("b").Busy() != 4 {
			t.Fatalf("got %v, %d and %d busy", err, p.Find("a").Busy(), p.Find("b").Busy())
		}
		own.Release()
		held.Release()
		synctest.Wait()
		if _, err := p.Await(expired(t), work, nil); err == nil {
			t.Error("there was room though each has as much as it may")
		}
	})
}

// expired is a context that ends before anybody has room.
func expired(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestStandingStreamsTakeNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := narrow(1, 10)
		held := fill(t, p, 2)
		told := make(chan got, 1)
		queue(t.Context(), p, told, "late", 1)
		held[0].Stand()
		synctest.Wait()
		if len(told) != 1 {
			t.Fatal("a stream takes room")
		}
		g := <-told
		if g.err != nil || g.lease.Upstream.InFlight() != 2 || g.lease.Upstream.Busy() != 1 {
			t.Errorf("got %v, want one beside the stream", g.err)
		}
		held[0].Release()
		g.lease.Release()
		if u := g.lease.Upstream; u.InFlight() != 0 || u.Busy() != 0 {
			t.Errorf("in the end: %d in flight, %d busy", u.InFlight(), u.Busy())
		}
	})
}

// Who waits with one call is not behind all of who waits with many.
func TestCallersTakeTurnsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := narrow(1, 100)
		held := fill(t, p, 2)
		told := make(chan got, 100)
		queue(t.Context(), p, told, "greedy", 20)
		queue(t.Context(), p, told, "modest", 2)
		order := ""
		for range 4 {
			held[0].Release()
			synctest.Wait()
			g := <-told
			if g.err != nil {
				t.Fatal(g.err)
			}
			order, held[0] = order+g.caller[:1], g.lease
		}
		if order != "gmgm" {
			t.Errorf("got %s, want turns", order)
		}
	})
}

// A queue that one caller has filled has room for another one.
func TestTheGreediestGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := narrow(1, 6)
		fill(t, p, 2)
		told := make(chan got, 100)
		queue(t.Context(), p, told, "greedy", 6)
		queue(t.Context(), p, told, "modest", 1)
		if len(told) != 1 {
			t.Fatalf("%d were told, want one", len(told))
		}
		if g := <-told; g.caller != "greedy" || !errors.Is(g.err, routing.ErrFull) {
			t.Errorf("%s got %v, want greedy turned away", g.caller, g.err)
		}
		queue(t.Context(), p, told, "modest", 3)
		var refused []string
		for len(told) > 0 {
			refused = append(refused, (<-told).caller)
		}
		if fmt.Sprint(refused) != "[greedy greedy modest]" {
			t.Errorf("got %v turned away, want those who have more, and then oneself", refused)
		}
	})
}

// A client that leaves takes its place in the queue along.
func TestWhoLeavesWaitsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := narrow(1, 2)
		held := fill(t, p, 2)
		ctx, leave := context.WithCancel(t.Context())
		told := make(chan got, 2)
		queue(ctx, p, told, "gone", 1)
		queue(t.Context(), p, told, "stays", 1)
		leave()
		if g := <-told; !errors.Is(g.err, context.Canceled) {
			t.Errorf("got %v", g.err)
		}
		held[1].Release()
		if g := <-told; g.caller != "stays" || g.err != nil {
			t.Errorf("got %v", g)
		}
	})
}

// Room is also made by settings, by an upstream that joins, and by one that is well again.
func TestWhatMakesRoom(t *testing.T) {
	for what, make := range map[string]func(p *routing.Pool){
		"a higher bound":    func(p *routing.Pool) { p.Configure(routing.Settings{MaxInFlight: 2, Queue: 1}) },
		"no bound":          func(p *routing.Pool) { p.Configure(routing.Settings{}) },
		"another upstream":  func(p *routing.Pool) { p.Replace(upstreams("a", "b", "c")) },
		"one's own bound":   func(p *routing.Pool) { p.Replace([]*routing.Upstream{{Name: "a", MaxInFlight: 2}, {Name: "b"}}) },
		"one that is there": func(p *routing.Pool) { p.Answered(p.Find("c")) },
	} {
		synctest.Test(t, func(t *testing.T) {
			p := narrow(1, 2)
			if what == "one that is there" {
				p.Replace(upstreams("a", "b", "c"))
				p.FellSilent(p.Find("c"), errBroken)
			}
			fill(t, p, 2)
			told := chan1()
			queue(t.Context(), p, told, "late", 1)
			if len(told) > 0 {
				t.Fatalf("%s: got %v before", what, <-told)
			}
			make(p)
			synctest.Wait()
			if len(told) != 1 {
				t.Errorf("%s: still waits", what)
			}
			time.Sleep(time.Minute)
		})
	}
}

func chan1() chan got { return make(chan got, 1) }

// One who waits for what only a full upstream can do holds nobody else up.
func TestWorkOfAnotherEraPassesBy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := narrow(1, 10)
		a, b := p.Find("a"), p.Find("b")
		p.Speaks(b, mcp.EraLegacy, []*routing.Upstream{a}) // a does not
		held := fill(t, p, 2)
		told := make(chan got, 3)
		go func() {
			lease, err := p.Await(t.Context(), routing.Work{Era: mcp.EraLegacy, Caller: "old"}, nil)
			told <- got{"old", lease, err}
		}()
		synctest.Wait()
		queue(t.Context(), p, told, "new", 1)
		for _, l := range held {
			if l.Upstream.Is(a) {
				l.Release()
			}
		}
		synctest.Wait()
		if len(told) != 1 {
			t.Fatalf("%d were told, want one", len(told))
		}
		if g := <-told; g.caller != "new" || g.err != nil || !g.lease.Upstream.Is(a) {
			t.Errorf("got %v", g)
		}
		time.Sleep(time.Minute)
	})
}

// Full primaries are waited for: a backup is for when they are not fit.
func TestFullIsNotUnfit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := routing.NewPool(routing.PoolOptions{
			Upstreams: []*routing.Upstream{{Name: "a", MaxInFlight: 1}, {Name: "spare", Backup: true}}, Settings: routing.Settings{Queue: 1},
		})
		fill(t, p, 1)
		if _, err := p.Await(expired(t), work, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want it to wait", err)
		}
	})
}

// No bound is ever broken by work that waits, and nobody is forgotten, whatever comes when.
func TestRoomUnderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most, calls = 3, 2000
		p := narrow(most, calls)
		told := make(chan error, calls)
		for i := range calls {
			go func() {
				time.Sleep(time.Duration(i%97) * time.Millisecond)
				lease, err := p.Await(t.Context(), of(fmt.Sprint(i%5)), nil)
				if err == nil {
					if busy := lease.Upstream.Busy(); busy > most {
						t.Errorf("%d at %s, want %d at most", busy, lease.Upstream.Name, most)
					}
					time.Sleep(time.Duration(1+i%7) * time.Millisecond)
					lease.Release()
				}
				told <- err
			}()
		}
		for range calls {
			if err := <-told; err != nil {
				t.Fatal(err)
			}
		}
		if a, b := p.Find("a").InFlight(), p.Find("b").InFlight(); a+b != 0 {
			t.Errorf("in the end: %d and %d in flight", a, b)
		}
	})
}
