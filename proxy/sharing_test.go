package proxy_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"berth/proxy"
)

// Whatever header callers authenticate with, those who differ in it share no stream;
// what names a request or the way that it came keeps nobody apart.
func TestCallersAreToldApartByAnyHeader(t *testing.T) {
	for _, c := range []struct {
		name   string
		header string
		shared bool
	}{
		{"key", "X-Api-Key", false},
		{"a proxy's user", "X-Forwarded-User", false},
		{"request id", "X-Request-Id", true},
		{"trace", "Traceparent", true},
		{"address", "X-Forwarded-For", true},
		{"name", "Mcp-Name", true},
		{"last event", "Last-Event-Id", true},
		{"accept", "Accept", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{
					endpoint: func(ep *proxy.Endpoint) { ep.FleetNotifications = true },
					options:  trustLoopback,
				})
				values := []string{"key \xe9", "key \xe8"} // no UTF-8, which headers need not be
				if c.header == "Mcp-Name" {
					values = []string{"one", "two"} // but this one must
				}
				for i, value := range values {
					f.subscribe(fmt.Sprint(i), listsFilter, c.header, value)
				}
				synctest.Wait()
				want := 2
				if c.shared {
					want = 1
				}
				for _, server := range f.servers {
					if n := server.Calls("subscriptions/listen"); n != want {
						t.Errorf("%s has %d streams, want %d", server.Name, n, want)
					}
				}
			})
		})
	}
}

// What a shared stream's upstream gives to one caller is given to none of several.
func TestSharedStreamsGiveNobodyACookie(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleetwide(t)
		for _, server := range f.servers {
			server.inject(onMethod("subscriptions/listen", func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
				w.Header().Set("Set-Cookie", "sid=1")
				w.Header().Set("Mcp-Session-Id", "s")
				w.Header().Set("X-Kept", "yes")
				return false
			}))
		}
		for range 2 {
			resp := f.open(f.modernRequest(t.Context(), "subscriptions/listen", "", `"notifications":`+listsFilter))
			defer resp.Body.Close()
			if h := resp.Header; h.Get("Set-Cookie") != "" || h.Get("Mcp-Session-Id") != "" || h.Get("X-Kept") != "yes" {
				t.Errorf("got %v", h)
			}
		}
	})
}

// The request for a shared stream is berth's, and so is its id; a refusal of it bears
// that of each subscriber's own.
func TestRefusalOfASharedStreamBearsTheSubscribersID(t *testing.T) {
	const refusal = `{"jsonrpc":"2.0","id":%s,"error":{"code":-32021,"message":"no"}}`
	for _, c := range []struct {
		name, typ, form string
		status          int
	}{
		{"JSON", jsonType, "%s", http.StatusBadRequest},
		{"an event", eventsType, "data: %s\n\n", http.StatusOK},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleetwide(t)
				for _, server := range f.servers {
					server.inject(onMethod("subscriptions/listen", func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
						w.Header().Set("Content-Type", c.typ)
						w.WriteHeader(c.status)
						fmt.Fprintf(w, c.form, fmt.Sprintf(refusal, `"berth"`))
						return true
					}))
				}
				r := f.modern("subscriptions/listen", "", `"notifications":`+listsFilter)
				if want := fmt.Sprintf(refusal, "1"); r.status != c.status || r.body != want {
					t.Errorf("got %d %s, want %d %s", r.status, r.body, c.status, want)
				}
			})
		})
	}
}

// What one caller was told of a task is not told to another in its owner's stead,
// whichever header they authenticate with.
func TestTaskLastSeenIsToldToTheSameKeyOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		id := f.newTask(3600)
		f.poll(id, "X-Api-Key", "a", "X-Request-Id", "1")
		f.servers[0].kill()
		if r := f.poll(id, "X-Api-Key", "a", "X-Request-Id", "2"); r.status != http.StatusOK {
			t.Errorf("the same key: got %d %s", r.status, r.body)
		}
		if r := f.poll(id, "X-Api-Key", "b", "X-Request-Id", "3"); r.status != http.StatusServiceUnavailable {
			t.Errorf("another key: got %d %s", r.status, r.body)
		}
	})
}

// An upstream that says more than it was asked for may speak of somebody else's task.
func TestWhatIsSaidOfOtherTasksReachesNobody(t *testing.T) {
	for name, id := range map[string]string{"own stream": `1`, "shared stream": `"berth"`} {
		fleetwide := id != `1`
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{size: 1, endpoint: func(ep *proxy.Endpoint) { ep.FleetNotifications = fleetwide }})
				filter := `{"toolsListChanged":true}`
				f.servers[0].inject(onMethod("subscriptions/listen", streams(func(ctx context.Context, write func(string)) {
					write(`data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":` + filter + `}}` + "\n\n")
					time.Sleep(time.Second)
					write(`data: {"jsonrpc":"2.0","method":"notifications/tasks","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `},"taskId":"x","status":"working"}}` + "\n\n")
					write(`data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}}}` + "\n\n")
					<-ctx.Done()
				})))
				s := f.subscribe("1", filter)
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if got := s.told(); len(got) != 1 || got[0] != "tools/list_changed" {
					t.Errorf("told %v, want the change of the list only", got)
				}
			})
		})
	}
}
