package upgrade

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
	"berth/routing"
	"berth/upgrade/task"
)

// Within the drain calls end as they would have; the rest fails, durably, and nothing new
// is taken on.
func TestDrainWaitsAndThenCuts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		var log bytes.Buffer
		berths := startBerths(t, 2, settings{log: slog.New(slog.NewTextHandler(&log, nil))}, up)
		b, other := berths[0], berths[1]
		quick, long := b.hand(t, rule(nil), "quick result/2s"), b.hand(t, rule(nil), "long hang")
		asks := b.hand(t, rule(nil), "asks ask:k result")
		queued := make([]string, 4)
		for i := range queued {
			queued[i] = b.hand(t, rule(func(r *Rule) { r.Concurrency = 1 }), fmt.Sprintf("queued-%d hang", i))
			synctest.Wait()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		began := time.Now()
		drained := make(chan struct{})
		go func() {
			b.Drain(ctx)
			close(drained)
		}()
		synctest.Wait()
		if _, err := b.Maker.Create(t.Context(), creation(rule(nil), "new result")); !errors.Is(err, ErrDraining) {
			t.Errorf("a creation: got %v, want ErrDraining", err)
		}
		if err := b.Steps.Update(t.Context(), asks, somebody, inputs("k", "1"), &Envelope{}); !errors.Is(err, ErrDraining) {
			t.Errorf("an answer: got %v, want ErrDraining", err)
		}
		<-drained
		if took := time.Since(began); took < 10*time.Second || took > 13*time.Second {
			t.Errorf("took %v", took)
		}
		b.kill()
		if !strings.Contains(log.String(), "held calls are cut\" calls=5") || strings.Count(log.String(), "a held call was cut") != 5 || !strings.Contains(log.String(), long) {
			t.Errorf("the log says\n%s", &log)
		}
		other.mustState(t, quick, Completed)
		if f := other.see(t, long).failure(t); f.Data.Reason != mcp.ReasonShutdown || f.Data.MayHaveExecuted == nil || !*f.Data.MayHaveExecuted {
			t.Errorf("got %+v", f)
		}
		for i, id := range queued {
			f := other.see(t, id).failure(t)
			if f.Data.Reason != mcp.ReasonShutdown || *f.Data.MayHaveExecuted != (i == 0) {
				t.Errorf("queued-%d: got %+v", i, f)
			}
		}
		if err := other.Steps.Update(t.Context(), asks, somebody, inputs("k", "1"), &Envelope{}); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		other.mustState(t, asks, Completed)
	})
}

// Nothing is waited for that is over: the drain ends with the last call.
func TestDrainEndsWithTheLastCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{}, newTool())[0]
		id := b.hand(t, rule(nil), "call result/2s")
		began := time.Now()
		b.Drain(t.Context())
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("took %v", took)
		}
		b.mustState(t, id, Completed)
	})
}

// A second signal cuts at once. A drain that has begun does not keep it from that.
func TestDrainIsCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{}, newTool())[0]
		id := b.hand(t, rule(nil), "call hang")
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		b.Drain(ctx)
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("took %v", took)
		}
		if f := b.see(t, id).failure(t); f.Data.Reason != mcp.ReasonShutdown {
			t.Errorf("got %+v", f)
		}
	})
}

// What was resigned stays so: the beats that follow do not claim that the process lives.
func TestDrainedBerthIsKnownToBeGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		berths := startBerths(t, 2, settings{}, newTool())
		time.Sleep(time.Second)
		berths[0].Drain(t.Context())
		time.Sleep(5 * testLease)
		if left := berths[1].members(t, berths[1].ledger.Lists.Holders()); len(left) != 1 || left[0] != berths[1].ledger.Holder {
			t.Errorf("holders are %v, want %s alone", left, berths[1].ledger.Holder)
		}
	})
}

// A call that may run twice costs its client time alone, whether its berth was shut down
// or killed. A client that still waits for the answer itself is told.
func TestDrainLeavesWhatMayRunTwiceToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		berths := startBerths(t, 2, settings{}, up)
		b, other := berths[0], berths[1]
		b.line.lasts = true
		time.Sleep(2 * testLease) // until what the store does not know is unknown
		again := rule(func(r *Rule) { r.OnOrphan = task.OrphanRerun })
		twice := b.hand(t, again, "twice result/30s")
		once := b.hand(t, rule(nil), "once result/30s")
		h, err := b.Maker.Create(t.Context(), creation(again, "waits result/30s"))
		if err != nil {
			t.Fatal(err)
		}
		told := &waiting{up: up, b: b}
		h.Start(told)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		b.Drain(ctx)
		b.kill()
		if f := other.see(t, once).failure(t); f.Data.Reason != mcp.ReasonShutdown {
			t.Errorf("got %+v, want it shut down", f)
		}
		if _, err := other.Reader.Get(t.Context(), h.ID, somebody); !errors.Is(told.failed, task.ErrShutdown) || !errors.Is(err, ErrUnknown) {
			t.Errorf("its client was told %v, and its task gives %v; want no task", told.failed, err)
		}
		time.Sleep(3*testLease + 31*time.Second)
		other.mustState(t, twice, Completed)
		if runs := up.executed["twice 0"]; runs != 2 {
			t.Errorf("it ran %d times, want 2", runs)
		}
	})
}

// waiting is a client that waits for the answer itself.
type waiting struct {
	up     *tool
	b      *berth
	failed error
}

func (w *waiting) Send(ctx context.Context, u *routing.Upstream, c *Call, _ int64) (Exchange, error) {
	return w.up.send(ctx, w.b, u, c)
}

func (w *waiting) Waits() {}

func (w *waiting) Failed(err error) bool {
	w.failed = err
	return true
}
