package upgrade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/routing"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// startAtOnce makes a task whose call is started before its client has a handle.
func (b *berth) startAtOnce(t *testing.T, r *Rule, argument string) *Held {
	t.Helper()
	c := creation(r, argument)
	c.AtOnce = true
	h, err := b.Maker.Create(t.Context(), c)
	if err != nil {
		t.Fatalf("creating a task: %v", err)
	}
	return h
}

// underWay is how many calls are at the upstreams, as the pool counts.
func (b *berth) underWay() (n int) {
	for _, u := range b.runner.Pools.Get(poolName).Routing.Upstreams() {
		n += u.InFlight()
	}
	return n
}

// A call that is sent as soon as it is recorded takes one write for both: that it is sent stands in its record from the
// beginning, and so before its first byte leaves.
func TestCallThatIsSentAtOnceIsMadeDispatched(t *testing.T) {
	for _, shared := range []bool{false, true} {
		t.Run(fmt.Sprintf("shared %t", shared), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				at, up := newCell(memory(t)), newTool()
				var b *berth
				id, stood := "", []string{}
				s := settings{at: at, shared: shared, send: func(ctx context.Context, u *routing.Upstream, c *Call) (Exchange, error) {
					if record, err := at.Load().Get(ctx, ledger.TaskKey(id)); err == nil {
						stands, _ := task.Decode(record.Value)
						stood = append(stood, fmt.Sprint(stands.State, " ", stands.Upstream, " ", stands.Round))
					}
					return up.send(ctx, b, u, c)
				}}
				b = startBerths(t, 1, s, up)[0]
				b.line.atOnce = true
				b.hand(t, rule(nil), "first result") // asks for what is asked once
				synctest.Wait()
				stood = nil
				b.line.note()
				h := b.startAtOnce(t, rule(nil), "call result")
				id = h.ID
				if written := writes(b.line.asked()); len(written) != 1 {
					t.Errorf("its creation takes the writes %q", written)
				}
				h.Start(nil)
				synctest.Wait()
				if want := []string{"dispatched u 1"}; !slices.Equal(stood, want) {
					t.Errorf("as it is sent there stands %q, want %q", stood, want)
				}
				if written := writes(b.line.asked()); len(written) != 2 {
					t.Errorf("all of it takes the writes %q", written)
				}
				b.mustState(t, id, Completed)
				if n := b.underWay(); n > 0 {
					t.Errorf("%d calls are still at upstreams", n)
				}
			})
		})
	}
}

// writes are those of operations.
func writes(asked []string) []string {
	return slices.DeleteFunc(asked, func(op string) bool { return strings.HasPrefix(op, "get ") })
}

// What is to wait, or may be sent by another berth, is not said to be sent before it is.
func TestCallThatMayWaitIsNotMadeDispatched(t *testing.T) {
	for name, change := range map[string]func(r *Rule){
		"it takes a place":  func(r *Rule) { r.Concurrency = 1 },
		"it may run twice":  func(r *Rule) { r.OnOrphan = task.OrphanRerun },
		"it is handed over": nil,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := startBerths(t, 1, settings{shared: true}, newTool())[0]
				c := creation(rule(change), "call result")
				c.AtOnce = change != nil
				h, err := b.Maker.Create(t.Context(), c)
				if err != nil {
					t.Fatal(err)
				}
				if task := h.Task(); !task.Waiting() || task.Handed || b.underWay() > 0 {
					t.Errorf("it is made %s, and %d calls are at upstreams", task.State, b.underWay())
				}
				h.Discard()
				synctest.Wait()
			})
		})
	}
}

// Whose client goes before the call is started has no task, and no upstream hears of it.
func TestCallThatIsDiscardedBeforeItIsSentLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		b := startBerths(t, 1, settings{shared: true}, up)[0]
		h := b.startAtOnce(t, rule(nil), "call result")
		if b.underWay() != 1 {
			t.Errorf("%d calls are on their way", b.underWay())
		}
		h.Discard()
		time.Sleep(2 * testLease)
		if _, err := b.Reader.Get(t.Context(), h.ID, somebody); !errors.Is(err, ledger.ErrUnknown) || up.count()+b.underWay() > 0 {
			t.Errorf("%d were sent, %d are at upstreams; the task: %v", up.count(), b.underWay(), err)
		}
	})
}

// A call of which nothing left goes elsewhere, and that stands first, too.
func TestCallThatIsSentAtOnceGoesElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool("one", "two")
		var b *berth
		var tried []string
		s := settings{at: newCell(memory(t)), shared: true, send: func(ctx context.Context, u *routing.Upstream, c *Call) (Exchange, error) {
			if tried = append(tried, u.Name); len(tried) == 1 {
				return nil, &exchange.SendError{Err: errors.New("nobody listens")}
			}
			return up.send(ctx, b, u, c)
		}}
		b = startBerths(t, 1, s, up)[0]
		h := b.startAtOnce(t, rule(nil), "call result")
		h.Start(nil)
		synctest.Wait()
		v := b.mustState(t, h.ID, Completed)
		if len(tried) != 2 || tried[0] == tried[1] || v.Upstream != tried[1] || v.Round != 2 || b.underWay() > 0 {
			t.Errorf("it was tried at %v, and is said to be at %s in round %d; %d are at upstreams", tried, v.Upstream, v.Round, b.underWay())
		}
	})
}

// A call that bears a key, of which nothing left as its berth died, goes on at another one: a record that said it was sent would end it.
func TestCallWithAKeyThatIsToBeSentAtOnceGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		berths := startBerths(t, 2, settings{}, up)
		time.Sleep(2 * testLease)
		c := creation(rule(nil), "call result")
		c.AtOnce = true
		h, _, err := berths[0].Maker.CreateOnce(t.Context(), c, "k", nil)
		if err != nil {
			t.Fatal(err)
		}
		berths[0].line.die()
		h.Discard()
		berths[0].clear()
		time.Sleep(graceful)
		synctest.Wait()
		if v := berths[1].see(t, h.ID); v.State != Completed || up.count() != 1 {
			t.Errorf("%s %s, sent %d times", v.State, v.Outcome, up.count())
		}
	})
}

// What is given up before it leaves did not run, though its record says that it is sent.
func TestCallThatIsShutDownBeforeItIsSentDidNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		b := startBerths(t, 1, settings{shared: true}, up)[0]
		h := b.startAtOnce(t, rule(nil), "call result")
		b.runner.Calls.CutAll()
		h.Start(nil)
		synctest.Wait()
		if f := b.see(t, h.ID).failure(t); f.Data.MayHaveExecuted == nil || *f.Data.MayHaveExecuted || up.count()+b.underWay() > 0 {
			t.Errorf("sent %d times, %d are at upstreams, and it is told %q, %v", up.count(), b.underWay(), f.Message, f.Data.MayHaveExecuted)
		}
	})
}

// With memory:, what has ended past its holder is not sent.
func TestCallThatHasEndedBeforeItIsSentAtOnceIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		b := startBerths(t, 1, settings{}, up)[0]
		h := b.startAtOnce(t, rule(nil), "call result")
		e, err := b.ledger.Records.Get(t.Context(), h.ID)
		if err == nil {
			_, err = b.ledger.Records.Apply(t.Context(), e, b.ledger.Op(task.Cancel))
		}
		if err != nil {
			t.Fatal(err)
		}
		h.Start(nil)
		synctest.Wait()
		if v := b.see(t, h.ID); v.State != Cancelled || up.count()+b.underWay() > 0 {
			t.Errorf("it is %s, and was sent %d times; %d are at upstreams", v.State, up.count(), b.underWay())
		}
	})
}
