package proxy_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// A call that is cut off at an instance which takes no connections any more may have run: its client is told so, not that its session is
// gone, which goes on elsewhere.
func TestACallThatIsCutOffAtAClosedInstanceMayHaveRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, reinit(rigOptions{probe: true}))
		session, other := f.initialize(), f.initialize()
		f.furnish(session)
		f.furnish(other)
		a := f.servers[0]
		a.inject(onMethod("tools/call", func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
			<-r.Context().Done()
			return true
		}))
		cut := make(chan reply, 1)
		go func() { cut <- f.do(f.legacyRequest(t.Context(), session, "tools/call", `"name":"work"`)) }()
		synctest.Wait()
		a.listener.Close()
		time.Sleep(10 * time.Second) // in which idle connections end
		if got := f.who(other); got == "a" {
			t.Fatalf("the other session is at %s, which is closed", got)
		}
		a.http.Close()
		(<-cut).fails(t, http.StatusBadGateway, -32603, "upstream_reset", false)
		if got := f.who(session); got == "a" {
			t.Errorf("the session is at %s, which is closed", got)
		}
	})
}
