package bridge

import (
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A session that its server loses while it is being opened, as by a restart, is lent to no second call, and counted no more.
func TestASessionThatIsLostAsItIsOpened(t *testing.T) {
	for name, c := range map[string]struct {
		takes bool // the server takes the end of its opening all the same
		first int
	}{"its opening fails": {false, 502}, "it is found out later": {true, 200}} {
		t.Run(name, func(t *testing.T) {
			var streamed, anew atomic.Bool
			u := tool(kind{}, where)
			u.faults = func(w http.ResponseWriter, r *http.Request, m message) bool {
				switch {
				case anew.Load():
					return false
				case r.Method == http.MethodGet && !streamed.Swap(true):
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, ": it breaks off\n\n")
					return true
				case !streamed.Load():
					return false
				case m.Method == "notifications/initialized":
					time.Sleep(time.Second)
					u.forget()
					if anew.Store(true); c.takes {
						w.WriteHeader(http.StatusAccepted)
						return true
					}
				}
				respond(w, http.StatusNotFound, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`)
				return true
			}
			bridged(t, u, nil, func(r *rig) {
				for n, want := range []int{c.first, 200, 200} {
					if g := r.do(asking{name: "asks"}); g.status != want {
						t.Errorf("call %d: got %d %s", n, g.status, g.text)
					}
				}
				synctest.Wait()
				if has, open := r.b.has(), r.open(); has.sessions != 1 || has.shelves != 1 || len(open) != 1 {
					t.Errorf("%+v, and the server has %v", has, open)
				}
			})
		})
	}
}
