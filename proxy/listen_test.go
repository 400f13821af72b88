package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/routing"
)

// spread is a rig whose tasks lie on all of its instances in turn.
func spread(t *testing.T) *rig {
	t.Helper()
	return newRig(t, rigOptions{picker: new(routing.RoundRobin), probe: true})
}

// onEach makes one task on each instance; ids[i] is that of instance i.
func (f *rig) onEach(seconds float64) []string {
	f.t.Helper()
	ids := make([]string, len(f.servers))
	for range f.servers {
		id := f.newTask(seconds)
		i := slices.IndexFunc(f.servers, func(s *rigServer) bool { return s.Name == f.owner(id) })
		ids[i] = id
	}
	return ids
}

// asks records the filters of the subscriptions that an instance gets.
type asks struct {
	mu   sync.Mutex
	seen []string
}

func (a *asks) watch(_ http.ResponseWriter, _ *http.Request, body []byte) bool {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct{ Notifications json.RawMessage }
	}
	if json.Unmarshal(body, &m) == nil && m.Method == "subscriptions/listen" {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.seen = append(a.seen, string(m.ID)+" "+string(m.Params.Notifications))
	}
	return false
}

func (a *asks) all() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.seen)
}

// The tasks of several owners are one stream: each owner is asked for its own, under
// the client's id, one acknowledgement is the union, and what each tells comes through.
func TestSubscriptionToSeveralOwnersIsOneStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := spread(t)
		ids := f.onEach(30)
		seen := make([]asks, len(f.servers))
		for i, s := range f.servers {
			s.inject(seen[i].watch)
		}
		s := f.subscribe(`"s-1"`, tasksFilter(`"toolsListChanged":true,`, ids[1], ids[0], "nonesuch", ids[2]))
		synctest.Wait()
		if got, want := s.agreed(), tasksFilter(`"toolsListChanged":true,`, ids[1], ids[0], ids[2]); got != want {
			t.Errorf("agreed to %s, want %s", got, want)
		}
		for i, want := range []string{
			tasksFilter("", ids[0]), tasksFilter(`"toolsListChanged":true,`, ids[1]), tasksFilter("", ids[2]),
		} {
			if got := seen[i].all(); !slices.Equal(got, []string{`"s-1" ` + want}) {
				t.Errorf("%s was asked for %v, want %s", f.servers[i].Name, got, want)
			}
		}
		for _, server := range f.servers {
			server.Announce("notifications/tools/list_changed", nil)
		}
		synctest.Wait()
		time.Sleep(31 * time.Second)
		synctest.Wait()
		got := s.told()
		slices.Sort(got)
		want := []string{"tools/list_changed", ids[0] + " completed", ids[1] + " completed", ids[2] + " completed"}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
		s.cancel()
		<-s.done
		f.eventually("all legs ended", func() bool {
			return !slices.ContainsFunc(f.servers, func(s *rigServer) bool { return s.Hangups("subscriptions/listen") != 1 })
		})
	})
}

// A slow owner is waited for, two seconds; then its tasks are left out, for good.
func TestSilentOwnerIsLeftOutOfTheAcknowledgement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := spread(t)
		ids := f.onEach(60)
		woken := make(chan struct{})
		f.servers[1].inject(onMethod("subscriptions/listen", func(http.ResponseWriter, *http.Request, []byte) bool {
			<-woken
			return false
		}))
		f.servers[2].inject(onMethod("subscriptions/listen", func(http.ResponseWriter, *http.Request, []byte) bool {
			time.Sleep(1900 * time.Millisecond)
			return false
		}))
		var s *subscriber
		if took := elapsed(func() { s = f.subscribe("7", tasksFilter("", ids...)) }); took != 2*time.Second {
			t.Errorf("acknowledged after %v, want 2 s", took)
		}
		synctest.Wait()
		if got, want := s.agreed(), tasksFilter("", ids[0], ids[2]); got != want {
			t.Errorf("agreed to %s, want %s", got, want)
		}
		close(woken)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := s.told(); slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, ids[1]) }) || len(got) != 2 {
			t.Errorf("told %v, want the ends of %v", got, []string{ids[0], ids[2]})
		}
	})
}

// Where nobody acknowledges, the client hears that it may try again.
func TestSubscriptionToSilentOwnersIsUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{probe: true})
		id := f.newTask(60)
		f.servers[0].kill()
		r := f.modern("subscriptions/listen", "", `"notifications":`+tasksFilter("", id))
		r.fails(t, 503, -31503, "owner_unavailable", true)
	})
}

// What an owner has told before the stream stood is told at once, and what it tells
// while the stream is lost, when that stands again.
func TestTasksThatMovedMeanwhileAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := spread(t)
		before, later, last := f.newTask(1), f.newTask(20), f.newTask(60)
		time.Sleep(2 * time.Second)
		s := f.subscribe("1", tasksFilter("", before, later, last))
		synctest.Wait()
		if got, want := s.told(), []string{before + " completed"}; !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
		owner := f.servers[slices.IndexFunc(f.servers, func(s *rigServer) bool { return s.Name == f.owner(later) })]
		owner.kill()
		time.Sleep(22 * time.Second) // the task ends meanwhile
		owner.start(owner.Name)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got, want := s.told(), []string{before + " completed", later + " completed"}; !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
		time.Sleep(40 * time.Second)
		synctest.Wait()
		if got, want := s.told(), []string{before + " completed", later + " completed", last + " completed"}; !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
	})
}

// What overtook older events is not taken back by them.
func TestEndOfATaskIsTheLastThatIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		id := f.newTask(1)
		time.Sleep(2 * time.Second)
		f.servers[0].inject(acknowledging(tasksFilter("", id),
			`data: {"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"`+id+`","status":"working"}}`+"\n\n"))
		s := f.subscribe("1", tasksFilter("", id))
		synctest.Wait()
		if got, want := s.told(), []string{id + " completed"}; !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
	})
}

// Whichever way an upstream ends its lines, an event is whole when it is passed on.
func TestEventsOfASubscriptionAreWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		f.servers[0].inject(onMethod("subscriptions/listen", streams(func(ctx context.Context, write func(string)) {
			write("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{\"notifications\":{\"toolsListChanged\":true}}}\r\n\r")
			time.Sleep(time.Second)
			write("\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\r\n\r")
			<-ctx.Done()
		})))
		resp := f.open(f.modernRequest(t.Context(), "subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`))
		defer resp.Body.Close()
		lines := newEventLines(t, resp)
		lines.event()
		want := "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\r\n\r\n"
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

// A gateway's 503 in place of an owner that restarts is no refusal.
func TestPassingRefusalIsNotTakenForOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		id := f.newTask(60)
		s := f.subscribe("1", tasksFilter("", id))
		synctest.Wait()
		f.servers[0].kill()
		f.servers[0].inject(onMethod("subscriptions/listen", func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
			w.WriteHeader(503)
			return true
		}))
		f.servers[0].start("a")
		time.Sleep(10 * time.Second)
		f.servers[0].inject(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got, want := s.told(), []string{id + " completed"}; !slices.Equal(got, want) {
			t.Errorf("told %v, %v, want %v", got, s.fault(), want)
		}
	})
}

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

// An upstream's refusal is passed on as it came, where nobody else acknowledges.
func TestRefusalOfASubscriptionIsPassedOn(t *testing.T) {
	f := newRig(t, rigOptions{})
	for name, c := range map[string]struct {
		answer faultFunc
		status int
		body   string
	}{
		"by status": {func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(401)
			fmt.Fprint(w, "log in")
			return true
		}, 401, "log in"},
		"in JSON":     {say(jsonType, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`), 200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`},
		"as an event": {say(eventsType, `data: {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`+"\n\n"), 200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			f.servers[0].inject(onMethod("subscriptions/listen", c.answer))
			r := f.modern("subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`)
			if r.status != c.status || r.body != c.body {
				t.Errorf("got %d %q, want %d %q", r.status, r.body, c.status, c.body)
			}
			if name == "by status" && r.header.Get("WWW-Authenticate") != "Bearer" {
				t.Error("the challenge is gone")
			}
		})
	}
}

// With principals another's tasks are left out of what any upstream is asked for.
func TestSubscriptionLeavesForeignTasksOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{principals: true, wrap: fromLoopback})
		own := f.modern("tools/call", "slow_compute", slowCompute(60), userHeader, "alice").message(t).Result.TaskID
		foreign := f.modern("tools/call", "slow_compute", slowCompute(60), userHeader, "bob").message(t).Result.TaskID
		s := f.subscribe("1", tasksFilter("", foreign, own), userHeader, "alice")
		synctest.Wait()
		if got, want := s.agreed(), tasksFilter("", own); got != want {
			t.Errorf("agreed to %s, want %s", got, want)
		}
		stranger := f.subscribe("1", tasksFilter("", foreign, own), userHeader, "mallory")
		synctest.Wait()
		if got := stranger.agreed(); strings.Contains(got, own) || strings.Contains(got, foreign) {
			t.Errorf("a stranger was agreed %s", got)
		}
	})
}

// fromLoopback has requests come from a peer that is believed.
func fromLoopback(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = "127.0.0.1:1"
		next.ServeHTTP(w, r)
	})
}
