package bridge

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"berth/proxy/bridge/sessions"
)

// endsEarly has calls of a tool begin an answer that ends before it has said anything.
func endsEarly(tool string) func(w http.ResponseWriter, r *http.Request, m message) bool {
	return func(w http.ResponseWriter, _ *http.Request, m message) bool {
		if m.Params.Name != tool {
			return false
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// What a call without an answer may yet ask no other caller is asked: its session is nobody else's, where others may share it.
func TestNobodyIsLentTheSessionOfACallThatMayGoOn(t *testing.T) {
	ends := func(k *running) {}
	asksFirst := func(k *running) { k.ask(); holdsUp(k) }
	for name, c := range map[string]struct {
		u    *upstream
		call func(r *rig)
	}{
		"left":                    {tool(kind{}, holdsUp), func(r *rig) { r.goneAfter(time.Second, asking{name: "asks", caller: "alice"}) }},
		"left before the headers": {tool(kind{whole: true}, holdsUp), func(r *rig) { r.goneAfter(time.Second, asking{name: "asks", caller: "alice"}) }},
		"broken off":              {tool(kind{}, holdsUp), func(r *rig) { r.faults = endsEarly("asks"); r.do(asking{name: "asks", caller: "alice"}) }},
		"not answered":            {tool(kind{}, asksFirst), func(r *rig) { r.do(asking{name: "asks", caller: "alice"}); time.Sleep(11 * time.Minute) }},
	} {
		t.Run(name, func(t *testing.T) {
			c.u.tools["next"] = ends
			bridged(t, c.u, func(o *Options) { o.Isolation, o.Idle = sessions.ForAll, 15*time.Minute }, func(r *rig) {
				r.do(asking{name: "next", caller: "bob"})
				c.call(r)
				time.Sleep(10 * time.Second)
				r.do(asking{name: "next", caller: "bob"})
				calls := r.sent("tools/call")
				if calls[0].session != calls[1].session || calls[1].session == calls[2].session {
					t.Errorf("the calls were sent in %s, %s and %s", calls[0].session, calls[1].session, calls[2].session)
				}
				if open := r.open(); slices.Contains(open, calls[1].session) {
					t.Errorf("%v are open", open)
				}
			})
		})
	}
}
