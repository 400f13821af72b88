package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/routing"
)

// listening acknowledges a subscription and keeps it open.
func listening(open *atomic.Int64) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		open.Add(1)
		defer open.Add(-1)
		return streams(func(ctx context.Context, write func(string)) {
			write(`data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}}` + "\n\n")
			<-ctx.Done()
		})(w, r, body)
	}
}

func TestDrainEndsStandingStreamsAndNoCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		session := f.initialize()
		standing := f.open(f.request(t.Context(), http.MethodGet, "", legacyHeader(session)...))
		defer standing.Body.Close()
		call := make(chan reply)
		go func() { call <- f.modern("tools/call", "slow_compute", slowCompute(0)) }()
		f.servers[0].inject(onMethod("tools/call", streams(func(_ context.Context, write func(string)) {
			write(progressEvent)
			time.Sleep(20 * time.Second)
			write(doneEvent)
		})))
		<-call
		go func() { call <- f.do(f.call("modern")) }()
		synctest.Wait()
		f.proxy.Drain()
		f.proxy.Drain()
		if got, err := io.ReadAll(standing.Body); err != nil || !strings.Contains(string(got), "stream open") {
			t.Errorf("the standing stream ended with %q, %v", got, err)
		}
		if r := <-call; r.body != progressEvent+doneEvent && r.body != progressEvent+":\n\n"+doneEvent {
			t.Errorf("the call got %d %q", r.status, r.body)
		}
	})
}

// Every subscription ends with its completion result, whose id is the request's
// and the subscription's (2026-07-28, subscriptions, "Graceful Closure").
func TestDrainCompletesEverySubscription(t *testing.T) {
	const streams = 1000
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{picker: new(routing.RoundRobin)})
		var open atomic.Int64
		for _, s := range f.servers {
			s.inject(listening(&open))
		}
		ended := make(chan error, streams)
		for i := range streams {
			go func() { ended <- f.listen(i) }()
		}
		synctest.Wait()
		if n := open.Load(); n != streams {
			t.Fatalf("%d streams open, want %d", n, streams)
		}
		f.proxy.Drain()
		for range streams {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		if n := open.Load(); n != 0 {
			t.Errorf("%d streams still open at the upstreams", n)
		}
	})
}

// listen subscribes and reads to the end, which must be the completion result.
func (f *rig) listen(i int) error {
	id := fmt.Sprintf(`"s-%d"`, i)
	body := strings.Replace(message("subscriptions/listen", `"notifications":{},`+tasksMeta), `"id":1`, `"id":`+id, 1)
	resp, err := f.client.Do(f.request(context.Background(), http.MethodPost, body, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen"))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	stream, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("after %q: %w", stream, err)
	}
	events := eventsIn(string(stream))
	want := `{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `,` + berthsInfo + `}}}`
	if len(events) != 2 || events[1] != want {
		return fmt.Errorf("ended with %q, want %s", stream, want)
	}
	return nil
}

// A kept connection that is closed while its client writes breaks a call: answers say first
// that it closes.
func TestAnswersOfADrainingBerthCloseTheirConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		closes := func() bool {
			response := f.open(f.call("modern"))
			defer response.Body.Close()
			return response.Close
		}
		if closes() {
			t.Error("a connection is closed before berth drains")
		}
		f.proxy.Drain()
		if !closes() {
			t.Error("a connection is kept though berth drains")
		}
	})
}
