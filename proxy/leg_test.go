package proxy_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// acknowledging answers a subscription with an acknowledgement of filter and then with
// what comes from more.
func acknowledging(filter string, more ...string) faultFunc {
	return onMethod("subscriptions/listen", streams(func(ctx context.Context, write func(string)) {
		write(`data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":` + filter + `}}` + "\n\n")
		for _, event := range more {
			write(event)
		}
		<-ctx.Done()
	}))
}

// Whichever way an upstream ends its lines, an event is whole when it is passed on.
func TestEventsOfASubscriptionAreWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		f.servers[0].inject(onMethod("subscriptions/listen", streams(func(ctx context.Context, write func(string)) {
			write("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{\"notifications\":{\"toolsListChanged\":true}}}\r\n\r")
			time.Sleep(time.Second)
			write("\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":1}}}\r\n\r")
			<-ctx.Done()
		})))
		resp := f.open(f.modernRequest(t.Context(), "subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`))
		defer resp.Body.Close()
		lines := newEventLines(t, resp)
		lines.event()
		want := "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":1}}}\r\n\r\n"
		got := make([]byte, len(want))
		if _, err := io.ReadFull(lines.r, got); err != nil || string(got) != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	})
}

// A kept connection that its upstream has just closed does not cost a subscription.
func TestSubscriptionIsSentAgainWhereTheConnectionBroke(t *testing.T) {
	f := newRig(t, rigOptions{tcp: true, size: 1})
	f.servers[0].inject(onMethod("subscriptions/listen", onlyOnce(reset)))
	if s := f.subscribe("1", tasksFilter("", f.newTask(60))); s.status != 200 {
		t.Errorf("got %d, want 200", s.status)
	}
}

// A leg that agreed to nothing is dropped while others stand, and what was not asked
// for is not acknowledged.
func TestLegThatAgreesToNothingIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := spread(t)
		ids := f.onEach(60)
		f.servers[1].inject(acknowledging(`{"taskIds":["another's"],"promptsListChanged":true,"toolsListChanged":false}`))
		f.servers[2].inject(acknowledging(tasksFilter(`"promptsListChanged":true,`, ids[2], "another's")))
		s := f.subscribe("1", tasksFilter("", ids...))
		synctest.Wait()
		if got, want := s.agreed(), tasksFilter("", ids[0], ids[2]); got != want {
			t.Errorf("agreed to %s, want %s", got, want)
		}
		if n := f.servers[1].Hangups("subscriptions/listen"); n != 1 {
			t.Errorf("the leg that agreed to nothing was ended %d times, want once", n)
		}
		if n := f.servers[2].Hangups("subscriptions/listen"); n != 0 {
			t.Error("the leg that agreed was ended")
		}
	})
}

// What concerns one leg only is not the client's: its acknowledgement, its result, its
// cancellation. The subscription ends, in order, when all legs have.
func TestSubscriptionEndsWhenAllLegsHave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := spread(t)
		ids := f.onEach(60)
		f.servers[0].inject(acknowledging(tasksFilter("", ids[0]),
			`data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}}`+"\n\n",
			`data: {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`+"\n\n",
			`data: {"jsonrpc":"2.0","id":9,"method":"ping"}`+"\n\n",
			`data: {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}`+"\n\n"))
		s := f.subscribe("1", tasksFilter("", ids...))
		synctest.Wait()
		if got := s.told(); len(got) != 0 {
			t.Errorf("told %v, want nothing", got)
		}
		for _, server := range f.servers {
			server.Close()
		}
		<-s.done
		if got := s.told(); !slices.Equal(got, []string{"result 1"}) || s.fault() != nil {
			t.Errorf("told %v, %v, want the one result", got, s.fault())
		}
	})
}

// A stream that nobody serves any more breaks after the owner's grace, so that its
// client begins anew.
func TestDesertedSubscriptionBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{probe: true})
		s := f.subscribe("1", tasksFilter("", f.newTask(600)))
		synctest.Wait()
		f.servers[0].kill()
		took := elapsed(func() { <-s.done })
		if took < 30*time.Second || took > 31*time.Second || s.fault() == nil {
			t.Errorf("ended after %v with %v, want a break after 30 s", took, s.fault())
		}
	})
}

// An event that comes in pieces is not interrupted by other legs' events, nor by
// comments.
func TestLongEventsAreNotInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := spread(t)
		ids := f.onEach(600)
		long := `data: {"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"` + ids[0] + `","status":"working","_meta":{"io.modelcontextprotocol/subscriptionId":1},"x":"`
		f.servers[0].inject(onMethod("subscriptions/listen", streams(func(ctx context.Context, write func(string)) {
			write(`data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":` + tasksFilter("", ids[0]) + `}}` + "\n\n")
			write(long)
			for range 40 {
				write(strings.Repeat("y", 16<<10))
				time.Sleep(time.Second)
			}
			time.Sleep(20 * time.Second)
			write("\"}}\n\n")
			<-ctx.Done()
		})))
		var short []string
		for range 20 {
			short = append(short, `data: {"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"`+ids[1]+`","status":"working","_meta":{"io.modelcontextprotocol/subscriptionId":1}}}`+"\n\n")
		}
		f.servers[1].inject(onMethod("subscriptions/listen", streams(func(ctx context.Context, write func(string)) {
			write(`data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":` + tasksFilter("", ids[1]) + `}}` + "\n\n")
			for _, event := range short {
				time.Sleep(2 * time.Second)
				write(event)
			}
			<-ctx.Done()
		})))
		s := f.subscribe("1", tasksFilter("", ids...))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		count := map[string]int{}
		for _, line := range s.told() {
			count[line]++
		}
		if count[ids[0]+" working"] != 1 || count[ids[1]+" working"] != len(short) || len(count) != 2 {
			t.Errorf("told %v", count)
		}
	})
}
