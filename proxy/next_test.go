package proxy_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"berth/internal/h1/server"
	"berth/internal/wire"
	"berth/proxy"
)

// What requests hold counts for the proxy that follows theirs, by the bounds of that one, and is given
// back there; and what ends one proxy ends all.
func TestNextGoesOnWithWhatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		var options proxy.Options
		var now atomic.Pointer[proxy.Proxy]
		f := newRig(t, rigOptions{
			size:    1,
			options: func(o *proxy.Options) { o.Limits.InFlight = 2; options = *o },
			wrap: func(first server.Handler) server.Handler {
				now.Store(first.(lending).to)
				return handlerFunc(func(w wire.Client, r *wire.Request) bool { return lending{now.Load()}.Serve(w, r) })
			},
		})
		f.servers[0].inject(func(_ http.ResponseWriter, _ *http.Request, body []byte) bool {
			if strings.Contains(string(body), `"name":"hold"`) {
				<-let
			}
			return false
		})
		held := make(chan int, 2)
		for range 2 {
			go func() { held <- f.modern("tools/call", "hold", `"name":"hold","arguments":{}`).status }()
		}
		synctest.Wait()
		list := func() int { return f.modern("tools/list", "", "").status }
		for _, step := range []struct{ inFlight, want int }{{2, http.StatusServiceUnavailable}, {10, http.StatusOK}, {1, http.StatusServiceUnavailable}} {
			options.Limits.InFlight = step.inFlight
			now.Store(now.Load().Next(options))
			if got := list(); got != step.want {
				t.Errorf("with two under way and room for %d: got %d, want %d", step.inFlight, got, step.want)
			}
		}
		if n := now.Load().Serving(); n != 2 {
			t.Errorf("under way: %d", n)
		}
		close(let)
		if a, b := <-held, <-held; a != http.StatusOK || b != http.StatusOK {
			t.Errorf("what was under way: got %d and %d", a, b)
		}
		synctest.Wait()
		if got := list(); got != http.StatusOK {
			t.Errorf("with nothing under way: got %d", got)
		}
		f.proxy.Drain()
		if response := f.open(f.call("modern")); !response.Close {
			t.Error("what ends the first proxy does not end the last")
		}
	})
}
