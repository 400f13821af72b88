package proxy_test

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/proxy"
)

// A client that goes on with its stream at another berth gets it: who reads it on hears of that. What nobody reads on is refused as the
// server does.
func TestAClientTakesItsStreamOverFromAnotherBerth(t *testing.T) {
	for name, tc := range map[string]struct {
		own    bool // in the session that the stream is of
		event  string
		status int
	}{
		"its stream":         {true, "1", http.StatusOK},
		"another of its":     {true, "7", http.StatusConflict},
		"that of somebody's": {false, "1", http.StatusConflict},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				t.Cleanup(func() { time.Sleep(time.Second) }) // in which the server sees that all have left
				store := openStore(t, "memory:")
				o := rigOptions{size: 1, store: store, options: func(o *proxy.Options) { o.Notices = store }}
				f := newRig(t, o)
				g := f.second(o)
				in := f.initialize()
				session := in
				if !tc.own {
					session = f.initialize()
				}
				var read atomic.Bool
				f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
					if r.Method != http.MethodGet {
						return streams(func(ctx context.Context, write func(string)) {
							read.Store(true)
							write("id: 1\n" + progressEvent)
							<-ctx.Done()
							time.Sleep(50 * time.Millisecond) // until the server sees it
							read.Store(false)
						})(w, r, body)
					}
					if read.Load() {
						w.WriteHeader(http.StatusConflict)
					} else {
						w.Header().Set("Content-Type", eventsType)
					}
					return true
				})
				ctx, leave := context.WithTimeout(t.Context(), 3*time.Second)
				defer leave()
				if resp, err := f.client.Do(f.legacyRequest(ctx, session, "tools/call", `"name":"work"`)); err == nil {
					_, _ = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				time.Sleep(2 * time.Second)
				resp := g.do(g.request(t.Context(), http.MethodGet, "", append(legacyHeader(in), "Last-Event-Id", tc.event)...))
				if resp.status != tc.status {
					t.Errorf("got %d, want %d", resp.status, tc.status)
				}
			})
		})
	}
}
