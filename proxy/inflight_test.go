package proxy_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
	"berth/proxy"
	"berth/routing"
)

// narrowRig is a rig of one instance that has room for one call, and a queue for so many. The tool
// "who" runs until it is told to end.
func narrowRig(t *testing.T, o rigOptions, queue int) (f *rig, end chan struct{}) {
	o.size = 1
	f, end = newRig(t, o), make(chan struct{})
	f.pool.Configure(routing.Settings{Picker: firstCandidate{}, MaxInFlight: 1, Queue: queue, QueueTimeout: 3 * time.Second})
	f.servers[0].inject(onMethod("tools/call", func(_ http.ResponseWriter, r *http.Request, body []byte) bool {
		if r.Header.Get("Mcp-Name") == "who" {
			select {
			case <-end:
			case <-r.Context().Done():
			}
		}
		return false
	}))
	return f, end
}

// begins has a call of "who" be sent, and returns where its answer is told.
func (f *rig) begins(ctx context.Context) <-chan reply {
	answered := make(chan reply, 1)
	req := f.modernRequest(ctx, "tools/call", "who", `"name":"who"`)
	go func() {
		resp, err := f.client.Do(req)
		if err == nil {
			resp.Body.Close()
			answered <- reply{status: resp.StatusCode, header: resp.Header}
		}
	}()
	synctest.Wait()
	return answered
}

// Beyond max_in_flight calls wait, and get a place as it is given back.
func TestCallsWaitForRoomAtTheirUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, end := narrowRig(t, rigOptions{}, 10)
		first, second := f.begins(t.Context()), f.begins(t.Context())
		if got := f.pool.Find("a").InFlight(); got != 1 {
			t.Errorf("%d calls are at the instance, want 1", got)
		}
		time.Sleep(time.Second)
		close(end)
		if a, b := <-first, <-second; a.status != http.StatusOK || b.status != http.StatusOK {
			t.Errorf("got %d and %d", a.status, b.status)
		}
	})
}

// What finds no room is told when to try again, and that nothing of it was done.
func TestNoRoomIsARetryableRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := narrowRig(t, rigOptions{}, 1)
		f.begins(t.Context())
		waits := f.begins(t.Context())
		f.modern("tools/call", "who", `"name":"who"`).fails(t, http.StatusServiceUnavailable, mcp.CodeUnavailable, mcp.ReasonUpstreamsFull, true)
		if got := (<-waits).status; got != http.StatusServiceUnavailable {
			t.Errorf("after queue_timeout: got %d", got)
		}
	})
}

// Whoever waits for what has begun is not kept from it: by polls of tasks, calls in sessions,
// and the end of these.
func TestWhatHasBegunDoesNotWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, end := narrowRig(t, rigOptions{}, 0)
		task, session := f.newTask(1), f.initialize()
		running := f.begins(t.Context())
		for what, r := range map[string]reply{
			"poll":              f.poll(task),
			"call in a session": f.legacy(session, "tools/list", ""),
			"cancel":            f.modern("tasks/cancel", task, byID(task)),
			"end of a session":  f.end(session),
		} {
			if r.status/100 != 2 {
				t.Errorf("%s: got %v", what, r)
			}
		}
		f.modern("tools/list", "", "").fails(t, http.StatusServiceUnavailable, mcp.CodeUnavailable, mcp.ReasonUpstreamsFull, true)
		close(end)
		<-running
		if r := f.modern("tools/list", "", ""); r.status != http.StatusOK {
			t.Errorf("afterwards: got %v", r)
		}
	})
}

// A session's standing stream takes no room, however long it stands.
func TestStandingStreamsLeaveRoom(t *testing.T) {
	f, _ := narrowRig(t, rigOptions{}, 0)
	session := f.initialize()
	s := f.stand(session)
	if r := f.modern("tools/list", "", ""); r.status != http.StatusOK {
		t.Errorf("beside a stream: got %v", r)
	}
	s.leave()
}

// A client that leaves the queue is sent nowhere.
func TestClientThatLeavesTheQueueIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, end := narrowRig(t, rigOptions{}, 10)
		first := f.begins(t.Context())
		ctx, leave := context.WithCancel(t.Context())
		f.begins(ctx)
		leave()
		synctest.Wait()
		close(end)
		<-first
		synctest.Wait()
		if got := f.calls("tools/call"); got != 1 {
			t.Errorf("%d calls came, want 1", got)
		}
	})
}

// Calls of one caller, or of one value of a header, go to one upstream.
func TestRendezvousKeepsCallsTogether(t *testing.T) {
	for by, header := range map[string]string{proxy.ByPrincipal: userHeader, "X-Cart": "X-Cart"} {
		f := newRig(t, rigOptions{principals: true, picker: routing.Rendezvous{}, endpoint: func(ep *proxy.Endpoint) { ep.Rendezvous = by }})
		used := map[string]bool{}
		for _, value := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
			home := f.whoWith(header, value)
			used[home] = true
			for range 3 {
				if got := f.whoWith(header, value); got != home {
					t.Errorf("%s %s: got %s, want %s as before", by, value, got, home)
				}
			}
		}
		if len(used) < 2 {
			t.Errorf("by %s: all went to %v", by, used)
		}
	}
}
