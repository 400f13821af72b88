package proxy_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// A server that does not know the session of a call says so with 404, or with 400, which may
// mean something else: a ping tells.
func TestHeldCallInASessionThatIsDenied(t *testing.T) {
	for name, c := range map[string]struct {
		status, ping int
		want         string
	}{
		"by a server that says 404":        {404, 404, `"reason":"session_lost"`},
		"by one that says 400":             {400, 400, `"reason":"session_lost"`},
		"by none: the call is what is bad": {400, 200, `"code":-32000,"message":"no"`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newCoreRig(t, rigOptions{}, withoutGrace)
				session := f.initialize()
				for _, s := range f.servers {
					s.inject(func(w http.ResponseWriter, _ *http.Request, body []byte) bool {
						status := c.ping
						if bytes.Contains(body, []byte(`"tools/call"`)) {
							status = c.status
							f.tool.calls <- nil
						}
						w.Header().Set("Content-Type", "application/json")
						w.WriteHeader(status)
						_, _ = fmt.Fprint(w, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"no"}}`)
						return true
					})
				}
				id, _ := f.made(session)
				f.reaches(session, id, "failed")
				if got := f.legacy(session, "tasks/result", byID(id)); !strings.Contains(got.body, c.want) {
					t.Errorf("got %s, want %s in it", got.body, c.want)
				}
			})
		})
	}
}
