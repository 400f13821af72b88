package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"berth/proxy"
)

// lostOnce has a call be held in the session whose instance has lost that, and says so once the client has the task. Of later calls in
// it the instance says nothing.
func (f *sessionRig) lostOnce() {
	f.t.Helper()
	f.servers[0].Restart()
	lost, handed := f.session, make(chan struct{})
	first := onlyOnce(until(handed, sayStatus(http.StatusNotFound, "text/plain", "no such session")))
	f.servers[0].inject(onMethod("tools/call", func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		return r.Header.Get("Mcp-Session-Id") == lost && (first(w, r, body) || sayNothing(w, r, body))
	}))
	id := f.errand(`"steps":1`)
	close(handed)
	f.reaches(id, "failed")
}

// A client that only makes tasks learns by the next call that its session is gone: tasks
// that fail one after the other would tell it nothing that it could act on.
func TestSessionThatAHeldCallLostIsUnknown(t *testing.T) {
	f := newSessionRig(t, rigOptions{})
	f.lostOnce()
	for range 2 {
		r := f.legacy(f.session, "tools/call", `"name":"errand","task":{},"arguments":{"label":"job"}`)
		if r.status != http.StatusNotFound || !strings.Contains(r.body, "Session not found") {
			t.Errorf("a call in a lost session is answered %v", r)
		}
	}
	f.session = f.initialize()
	f.reaches(f.errand(`"steps":1`), "completed")
}

// Where sessions move, so does this one, with the next call.
func TestSessionThatAHeldCallLostMoves(t *testing.T) {
	f := newSessionRig(t, rigOptions{endpoint: func(ep *proxy.Endpoint) { ep.Reinit = true }})
	f.lostOnce()
	f.reaches(f.errand(`"steps":1`), "completed")
}

// A server may say 404 of something else: calls go on in a session that it knows.
func TestSessionThatWasDoubtedGoesOn(t *testing.T) {
	f := newSessionRig(t, rigOptions{})
	f.servers[0].inject(onlyOnce(onMethod("tools/call", sayStatus(http.StatusNotFound, "text/plain", "no such tool"))))
	f.reaches(f.errand(`"steps":1`), "failed")
	f.reaches(f.errand(`"steps":1`), "completed")
}
