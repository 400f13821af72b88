package draft

import (
	"context"
	"sync"
	"time"

	"berth/sticky"
)

// keep prolongs what is bound for as long as the request is under way: such a binding lives
// for minutes, and a tool may take hours.
func (t *Tasks) keep() {
	router, keys, binding := t.Call.Endpoint.Router, t.At.Made, *t.binding
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Call.HTTP.Context()))
	var keeping sync.WaitGroup
	keeping.Go(func() {
		tick := time.NewTicker(sticky.ProvisionalLife / 2)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				for _, key := range keys {
					router.KeepNew(ctx, key, binding)
				}
			case <-ctx.Done():
				return
			}
		}
	})
	t.stop = func() {
		cancel()
		keeping.Wait()
	}
}

// leave leaves what is bound to its own short life.
func (t *Tasks) leave() {
	if t.stop != nil {
		t.stop()
		t.stop = nil
	}
}
