package upgrade

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"berth/internal/storage"
	"berth/internal/storage/redistest"
	"berth/routing"
)

// silence is an answer that does not come before its call is given up.
type silence struct{ ctx context.Context }

func (s silence) Next() (Message, error) {
	<-s.ctx.Done()
	return Message{}, io.ErrUnexpectedEOF
}

func (s silence) Rest(ready func()) bool {
	context.AfterFunc(s.ctx, ready)
	return true
}

func (silence) Close() {}

// TestMemoryOfHeldCalls bounds what berth itself takes for a call that it holds, beside the exchange
// with its upstream: on the heap, its stacks included, and where the store is in memory the record there.
func TestMemoryOfHeldCalls(t *testing.T) {
	if underRace {
		t.Skip("the race detector takes memory of its own")
	}
	for kind, most := range map[string]int{"memory": 8 << 10, "redis": 6 << 10} {
		t.Run(kind, func(t *testing.T) {
			url := "memory:"
			if kind == "redis" {
				url = redistest.Start(t).URL()
			}
			at := openStore(t, url, storage.Options{})
			t.Cleanup(func() { _ = at.Close() })
			b := startBerths(t, 1, settings{at: newCell(at), lease: time.Minute, send: func(ctx context.Context, _ *routing.Upstream, _ *Call) (Exchange, error) {
				return silence{ctx}, nil
			}}, newTool())[0]
			const calls = 2000
			hold := func() {
				for i := range calls {
					b.hand(t, rule(nil), fmt.Sprint("call ", i))
				}
				for b.dispatched() < b.Held() {
					time.Sleep(time.Millisecond)
				}
			}
			hold()
			before := inUse()
			hold()
			if each := int(inUse()-before) / calls; each > most {
				t.Errorf("a held call takes %d bytes, want %d at most", each, most)
			} else {
				t.Logf("a held call takes %d bytes", each)
			}
		})
	}
}

// dispatched counts the calls that wait for their answers.
func (b *berth) dispatched() (n int) {
	for _, h := range b.runner.Calls.All() {
		if h.Task().State == Dispatched {
			n++
		}
	}
	return n
}

// inUse is the memory that is in use once garbage is collected and stacks have shrunk.
func inUse() uint64 {
	var m runtime.MemStats
	for range 6 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
