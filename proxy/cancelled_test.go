package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/proxy"
)

// hanging are answers of servers that have stopped a call which was cancelled, and leave it open.
var hanging = map[string]faultFunc{
	"no header": func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
		<-r.Context().Done()
		return true
	},
	"stream":                 streams(func(ctx context.Context, write func(string)) { write(progressEvent); <-ctx.Done() }),
	"stream of known events": streams(func(ctx context.Context, write func(string)) { write("id: 1\n" + progressEvent); <-ctx.Done() }),
}

const cancelsOne = `"requestId":1,"reason":"it took too long"`

// A call that its client has cancelled ends soon, though its server does not answer it any more: it counts for nothing.
func TestACancelledCallEndsThoughItsServerDoesNotAnswer(t *testing.T) {
	for name, answer := range hanging {
		for where, elsewhere := range map[string]bool{"": false, ", cancelled at another berth": true} {
			t.Run(name+where, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store := openStore(t, "memory:")
					o := rigOptions{size: 1, store: store, options: func(o *proxy.Options) { o.Notices = store }}
					f := newRig(t, o)
					by := f
					if elsewhere {
						by = f.second(o)
					}
					session := f.initialize()
					f.servers[0].inject(onMethod("tools/call", answer))
					ended := make(chan string, 1)
					began := time.Now()
					ctx, leave := context.WithTimeout(t.Context(), time.Minute)
					defer leave()
					go func() {
						resp, err := f.client.Do(f.legacyRequest(ctx, session, "tools/call", `"name":"work"`))
						if err != nil {
							ended <- err.Error()
							return
						}
						defer resp.Body.Close()
						body, _ := io.ReadAll(resp.Body)
						ended <- string(body)
					}()
					time.Sleep(3 * time.Second)
					if got := by.do(by.request(t.Context(), http.MethodPost, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{%s}}`, cancelsOne), legacyHeader(session)...)); got.status != http.StatusAccepted {
						t.Fatalf("the cancellation: got %d %s", got.status, got.body)
					}
					got := <-ended
					if took := time.Since(began); !strings.Contains(got, `"given_up"`) || took != 8*time.Second {
						t.Errorf("got %s after %v, want that it was given up, after 8s", got, took)
					}
					synctest.Wait()
					if n := f.pool.Find("a").InFlight(); n != 0 {
						t.Errorf("%d requests are under way", n)
					}
				})
			})
		}
	}
}

// One that is answered all the same is; one whose cancellation the server does not take, and that of another session, stay.
func TestACancellationEndsNothingElse(t *testing.T) {
	for name, tc := range map[string]struct {
		own     bool // in the session of the call
		refused bool // by the server
		takes   time.Duration
	}{
		"answered in time": {own: true, takes: 7 * time.Second},
		"refused":          {own: true, refused: true, takes: time.Minute},
		"another session":  {takes: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{size: 1})
				session := f.initialize()
				in := session
				if !tc.own {
					in = f.initialize()
				}
				f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
					switch method := methodIn(body); {
					case method == "tools/call":
						time.Sleep(tc.takes)
						return false
					case method == "notifications/cancelled" && tc.refused:
						w.WriteHeader(http.StatusInternalServerError)
						return true
					}
					return false
				})
				ended := make(chan reply, 1)
				go func() { ended <- f.legacy(session, "tools/call", `"name":"who"`) }()
				time.Sleep(3 * time.Second)
				f.do(f.request(t.Context(), http.MethodPost, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{%s}}`, cancelsOne), legacyHeader(in)...))
				if r := <-ended; r.status != http.StatusOK || r.message(t).Result == nil {
					t.Errorf("got %d %s", r.status, r.body)
				}
			})
		})
	}
}

// A tasks/result that berth answers ends at once, and without a response, when its client cancels it: what it was asked goes down the next.
func TestACancelledResultOfBerthsTaskEndsAtOnce(t *testing.T) {
	for where, elsewhere := range map[string]bool{"the same berth": false, "another berth": true} {
		t.Run(where, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := openStore(t, "memory:")
				f := newCoreRig(t, rigOptions{store: store, options: func(o *proxy.Options) { o.Notices = store }}, nil)
				by := f.rig
				if elsewhere {
					by = f.second(rigOptions{size: 1, store: store, options: func(o *proxy.Options) { o.Notices = store }})
				}
				session := f.initialize()
				id, call := f.made(session)
				cancelled := f.awaits(session, id, "")
				synctest.Wait()
				call.ask(`7`)
				synctest.Wait()
				began := time.Now()
				if got := by.do(by.request(t.Context(), http.MethodPost, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{%s}}`, cancelsOne), legacyHeader(session)...)); got.status != http.StatusAccepted {
					t.Fatalf("the cancellation: got %d %s", got.status, got.body)
				}
				<-cancelled.over
				cancelled.wants(t, asking(id, `7`))
				if took := time.Since(began); took != 0 || cancelled.err != nil {
					t.Errorf("it ended after %v, with %v, want at once and whole", took, cancelled.err)
				}
				next := f.awaits(session, id, "")
				time.Sleep(time.Minute)
				next.wants(t, asking(id, `7`))
				next.leave()
				call.ends(`"result":{}`)
			})
		})
	}
}

// One that takes no event stream is told that it was given up.
func TestACancelledResultInJSONIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, nil)
		session := f.initialize()
		id, call := f.made(session)
		cancelled := f.awaits(session, id, "", "Accept", jsonType)
		synctest.Wait()
		f.do(f.request(t.Context(), http.MethodPost, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{%s}}`, cancelsOne), legacyHeader(session)...))
		<-cancelled.over
		if got := cancelled.heard(); len(got) != 1 || !strings.Contains(got[0], `"given_up"`) {
			t.Errorf("got %q", got)
		}
		call.ends(`"result":{}`)
	})
}
