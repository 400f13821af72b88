package proxy_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/h1/server"
	"berth/internal/wire"
	"berth/proxy"
	"berth/routing"
)

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

// A refusal where a subscription is joined again is no end in order: the client, which is to ask for itself, is not told that it is one.
// With others that stand it is theirs alone.
func TestARefusedRejoinBreaksTheStream(t *testing.T) {
	for _, fleet := range []bool{false, true} {
		for _, size := range []int{1, 2} {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{size: size, picker: new(routing.RoundRobin), endpoint: func(ep *proxy.Endpoint) { ep.FleetNotifications = fleet }})
				first, second := f.newTask(3600), f.newTask(3600)
				s := f.subscribe("1", tasksFilter(`"toolsListChanged":true,`, first, second))
				synctest.Wait()
				f.servers[0].kill()
				f.servers[0].inject(onMethod("subscriptions/listen", refusesLate))
				f.servers[0].start(f.servers[0].Name)
				time.Sleep(20 * time.Second)
				synctest.Wait()
				ended := false
				select {
				case <-s.done:
					ended = true
				default:
				}
				if alone := size == 1; ended != alone || (s.fault() != nil) != alone || len(s.told()) > 0 {
					t.Errorf("fleet: %t, %d upstreams: ended: %t, %v, told %v", fleet, size, ended, s.fault(), s.told())
				}
				s.cancel()
			})
		}
	}
}

// refusesLate asks for a login, and says so after its head.
func refusesLate(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
	w.Header().Set("WWW-Authenticate", "Bearer")
	w.WriteHeader(401)
	_ = http.NewResponseController(w).Flush()
	time.Sleep(20 * time.Millisecond)
	fmt.Fprint(w, "log in")
	return true
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
		"by status, the body later": {refusesLate, 401, "log in"},
		"in JSON":                   {say(jsonType, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`), 200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`},
		"as an event":               {say(eventsType, `data: {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`+"\n\n"), 200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			f.servers[0].inject(onMethod("subscriptions/listen", c.answer))
			r := f.modern("subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`)
			if r.status != c.status || r.body != c.body {
				t.Errorf("got %d %q, want %d %q", r.status, r.body, c.status, c.body)
			}
			if strings.HasPrefix(name, "by status") && r.header.Get("WWW-Authenticate") != "Bearer" {
				t.Error("the challenge is gone")
			}
		})
	}
}

// The same where subscribers share the stream; what the refusal says may come later than its status.
func TestRefusalOfASharedSubscriptionIsPassedOn(t *testing.T) {
	f := newRig(t, rigOptions{size: 1, endpoint: func(ep *proxy.Endpoint) { ep.FleetNotifications = true }})
	f.servers[0].inject(onMethod("subscriptions/listen", refusesLate))
	r := f.modern("subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`)
	if r.status != 401 || r.body != "log in" || r.header.Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("got %v", r)
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
func fromLoopback(next server.Handler) server.Handler {
	return handlerFunc(func(w wire.Client, r *wire.Request) bool {
		r.RemoteAddr = "127.0.0.1:1"
		return next.Serve(w, r)
	})
}
