package proxy_test

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/proxy"
	"berth/routing"
)

// Subscriptions to tasks of berth's own making need no upstream: not its word, and not
// its headers. What is told is what a poll would have told, and the stream stands on when
// all has been said.
func TestSubscriptionToUpgradedTasksNeedsNoUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newGreeter(t, rigOptions{}, greetRule())
		for _, s := range f.servers {
			s.inject(first(knowsNoSubscriptions, greetings))
		}
		long, short := f.greeting("40s"), f.greeting("20s")
		resp := f.open(f.modernRequest(t.Context(), "subscriptions/listen", "", `"notifications":`+tasksFilter("", long)))
		if got := resp.Header; resp.StatusCode != 200 || got.Get("Content-Type") != eventsType || got.Get("Cache-Control") != "no-cache" {
			t.Errorf("got %d %v", resp.StatusCode, got)
		}
		resp.Body.Close()
		s := f.subscribe(`"s-1"`, tasksFilter("", long, short))
		time.Sleep(time.Minute)
		synctest.Wait()
		if got, want := s.agreed(), tasksFilter("", long, short); got != want {
			t.Errorf("agreed to %s, want %s", got, want)
		}
		if got, want := s.told(), []string{short + " completed", long + " completed"}; !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
		f.toldAsPolled(s.heard()[1].raw, short)
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		if got := s.told(); len(got) != 2 || s.fault() != nil || s.comments < 100 {
			t.Errorf("told %v, %d comments, %v; want a stream that stands", got, s.comments, s.fault())
		}
		if n := f.calls("subscriptions/listen") + f.calls("tasks/get"); n != 0 {
			t.Errorf("upstreams were asked %d times", n)
		}
	})
}

// toldAsPolled holds a notification against the answer to a poll.
func (f *rig) toldAsPolled(notification, id string) {
	f.t.Helper()
	var told struct{ Params map[string]any }
	var polled struct{ Result map[string]any }
	if err := json.Unmarshal([]byte(notification), &told); err != nil {
		f.t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(f.poll(id).body), &polled); err != nil {
		f.t.Fatal(err)
	}
	delete(told.Params, "_meta")
	delete(polled.Result, "resultType")
	delete(polled.Result, "_meta")
	if !reflect.DeepEqual(told.Params, polled.Result) {
		f.t.Errorf("told %v, want %v", told.Params, polled.Result)
	}
}

// Tasks of upstreams, tasks of berth's own making and the other kinds are one stream.
// Upstreams hear of their own tasks only, and of none as of no member.
func TestUpgradedTasksShareTheStreamWithAllElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newGreeter(t, rigOptions{}, greetRule())
		routed, upgraded := f.newTask(20), f.greeting("30s")
		var seen asks
		f.servers[0].inject(first(seen.watch, greetings))
		filter := tasksFilter(`"toolsListChanged":true,`, upgraded, routed)
		all := f.subscribe("1", filter)
		some := f.subscribe("2", tasksFilter(`"toolsListChanged":true,`, upgraded))
		synctest.Wait()
		if got := all.agreed(); got != filter {
			t.Errorf("agreed to %s, want %s", got, filter)
		}
		if got, want := some.agreed(), tasksFilter(`"toolsListChanged":true,`, upgraded); got != want {
			t.Errorf("agreed to %s, want %s", got, want)
		}
		want := []string{"1 " + tasksFilter(`"toolsListChanged":true,`, routed), `2 {"toolsListChanged":true}`}
		if got := seen.all(); !slices.Equal(got, want) {
			t.Errorf("the upstream was asked for %v, want %v", got, want)
		}
		f.servers[0].Announce("notifications/tools/list_changed", nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got, want := all.told(), []string{"tools/list_changed", routed + " completed", upgraded + " completed"}; !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
		if got, want := some.told(), []string{"tools/list_changed", upgraded + " completed"}; !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
	})
}

// The same where the other kinds come from the whole fleet.
func TestUpgradedTasksAndFleetNotificationsAreOneStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newGreeter(t, rigOptions{endpoint: func(ep *proxy.Endpoint) { ep.FleetNotifications = true }}, greetRule())
		id := f.greeting("30s")
		filter := tasksFilter(`"toolsListChanged":true,`, id)
		s := f.subscribe("1", filter)
		synctest.Wait()
		if got := s.agreed(); got != filter {
			t.Errorf("agreed to %s, want %s", got, filter)
		}
		for _, server := range f.servers {
			server.Announce("notifications/tools/list_changed", nil)
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := s.told(); len(got) != 4 || got[3] != id+" completed" {
			t.Errorf("told %v", got)
		}
	})
}

// Whose a task is not is told neither that it is there nor what becomes of it.
func TestForeignUpgradedTasksAreLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newGreeter(t, rigOptions{principals: true, options: trustLoopback}, greetRule())
		alices, mallorys := f.greeting("20s", userHeader, "alice"), f.greeting("20s", userHeader, "mallory")
		both := f.subscribe("1", tasksFilter("", alices, mallorys), userHeader, "mallory")
		none := f.subscribe("2", tasksFilter("", alices), userHeader, "mallory")
		beside := f.subscribe("3", tasksFilter(`"toolsListChanged":true,`, alices), userHeader, "mallory")
		time.Sleep(time.Minute)
		synctest.Wait()
		for s, want := range map[*subscriber]string{both: tasksFilter("", mallorys), none: "{}", beside: `{"toolsListChanged":true}`} {
			if got := s.agreed(); got != want {
				t.Errorf("agreed to %s, want %s", got, want)
			}
			if got := strings.Join(s.told(), " "); strings.Contains(got, alices) {
				t.Errorf("told %s", got)
			}
		}
		if got, want := both.told(), []string{mallorys + " completed"}; !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
	})
}

// An owner that is silent is unavailable, also beside what is not the caller's.
func TestForeignUpgradedTaskHidesNoSilentOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newGreeter(t, rigOptions{principals: true, options: trustLoopback, probe: true}, greetRule())
		foreign := f.greeting("1s", userHeader, "alice")
		routed := f.modern("tools/call", "slow_compute", slowCompute(60), userHeader, "mallory").message(t).Result.TaskID
		f.servers[0].kill()
		for range 2 { // the first finds out that it is silent
			r := f.tryToListen(tasksFilter("", foreign, routed), userHeader, "mallory")
			r.fails(t, 503, -31503, "owner_unavailable", true)
		}
	})
}

// Ids beyond the first 256 are left out, whoever made the tasks.
func TestListenedUpgradedTasksAreBounded(t *testing.T) {
	f := newGreeter(t, rigOptions{}, greetRule())
	id := f.greeting("1h")
	ids := make([]string, 256)
	for i := range ids {
		ids[i] = strings.Repeat("x", i+1)
	}
	s := f.subscribe("1", tasksFilter(`"toolsListChanged":true,`, append(slices.Clone(ids[1:]), id)...))
	f.eventually("it is acknowledged", func() bool { return s.agreed() != "" })
	if got, want := s.agreed(), tasksFilter(`"toolsListChanged":true,`, id); got != want {
		t.Errorf("agreed to %s, want %s", got, want)
	}
	s = f.subscribe("1", tasksFilter(`"toolsListChanged":true,`, append(ids, id)...))
	f.eventually("it is acknowledged", func() bool { return s.agreed() != "" })
	if got, want := s.agreed(), `{"toolsListChanged":true}`; got != want {
		t.Errorf("agreed to %s, want %s", got, want)
	}
}

// Who does not take tasks is told so, whatever else is asked for, and no upstream hears
// of it.
func TestListeningToUpgradedTasksTakesTheExtension(t *testing.T) {
	f := newGreeter(t, rigOptions{}, greetRule())
	id := f.greeting("1h")
	for _, filter := range []string{tasksFilter("", id), tasksFilter(`"toolsListChanged":true,`, "routed", id)} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		r := f.do(f.request(ctx, http.MethodPost, message("subscriptions/listen", `"notifications":`+filter+`,`+undeclaredMeta), modernHeader("subscriptions/listen", "")...))
		const data = `"data":{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
		if m := r.message(t); r.status != 400 || m.Error == nil || m.Error.Code != -32021 || !strings.Contains(r.body, data) {
			t.Errorf("got %d %s, want -32021 with data", r.status, r.body)
		}
	}
	if n := f.calls("subscriptions/listen") + f.calls("tasks/get"); n != 0 {
		t.Errorf("upstreams were asked %d times", n)
	}
}

// What an upstream refuses, or is silent about, costs no task of berth's own making. What
// it refuses alone is its to word.
func TestRefusalLeavesUpgradedTasksStanding(t *testing.T) {
	hangs := onMethod("subscriptions/listen", func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
		<-r.Context().Done()
		return true
	})
	for name, c := range map[string]struct {
		fault faultFunc
		after time.Duration
	}{
		"no such method": {knowsNoSubscriptions, 0},
		"a login":        {onMethod("subscriptions/listen", sayStatus(401, jsonType, "log in")), 0},
		"silence":        {hangs, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newGreeter(t, rigOptions{principals: true, options: trustLoopback}, greetRule())
				over, alices := f.greeting("1s", userHeader, "alice"), f.greeting("20s", userHeader, "alice")
				time.Sleep(2 * time.Second)
				f.servers[0].inject(first(c.fault, greetings))
				filter := tasksFilter(`"toolsListChanged":true,`, over, alices)
				var s *subscriber
				if took := elapsed(func() { s = f.subscribe("1", filter, userHeader, "alice") }); took != c.after {
					t.Errorf("acknowledged after %v, want %v", took, c.after)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if got, want := s.agreed(), tasksFilter("", over, alices); got != want {
					t.Errorf("agreed to %s, want %s", got, want)
				}
				if got, want := s.told(), []string{over + " completed", alices + " completed"}; !slices.Equal(got, want) || s.fault() != nil {
					t.Errorf("told %v, %v, want %v", got, s.fault(), want)
				}
				if c.after > 0 {
					return
				}
				r := f.tryToListen(filter, userHeader, "mallory")
				if r.status != 404 && r.status != 401 {
					t.Errorf("got %d %s, want the upstream's refusal", r.status, r.body)
				}
			})
		})
	}
}

// The end of what upstreams serve is not the end while a task of berth's own making has
// not ended. When all have, the others say how the stream ends.
func TestSubscriptionEndsWithItsUpstreamsAfterItsUpgradedTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newGreeter(t, rigOptions{size: 1}, greetRule())
		id := f.greeting("20s")
		f.servers[0].inject(first(onMethod("subscriptions/listen", streams(func(_ context.Context, write func(string)) {
			write(`data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true}}}` + "\n\n")
			time.Sleep(8 * time.Second)
			write(`data: {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}` + "\n\n")
		})), greetings))
		s := f.subscribe("1", tasksFilter(`"toolsListChanged":true,`, id))
		took := elapsed(s.ends)
		if got, want := s.told(), []string{id + " completed", "result 1"}; !slices.Equal(got, want) || took < 20*time.Second || took > 30*time.Second {
			t.Errorf("told %v in %v, want %v in 20 to 30 s", got, took, want)
		}
	})
}

// A stream whose upstream is lost stands for its tasks of berth's own making. When these
// have ended it breaks as any other would, after the owner's grace.
func TestSubscriptionIsDesertedAfterItsUpgradedTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newGreeter(t, rigOptions{size: 2, picker: new(routing.RoundRobin)}, greetRule())
		routed := f.newTask(600) // by the first one
		id := f.greeting("50s")  // by the second one
		s := f.subscribe("1", tasksFilter("", routed, id))
		synctest.Wait()
		f.servers[0].kill()
		took := elapsed(s.ends)
		if took < 79*time.Second || took > 81*time.Second || s.fault() == nil {
			t.Errorf("ended after %v with %v, want a break 30 s after the task's end", took, s.fault())
		}
		if got, want := s.told(), []string{id + " completed"}; !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
	})
}

// A berth that drains ends subscriptions in order, these too.
func TestDrainEndsSubscriptionsToUpgradedTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newGreeter(t, rigOptions{}, greetRule())
		s := f.subscribe(`"x"`, tasksFilter("", f.greeting("1h")))
		synctest.Wait()
		f.proxy.Drain()
		s.ends()
		if got, want := s.told(), []string{`result "x"`}; !slices.Equal(got, want) || s.fault() != nil {
			t.Errorf("told %v, %v, want %v", got, s.fault(), want)
		}
	})
}
