package proxy_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/proxy"
	"berth/routing"
)

// newFleetwide is a rig whose subscriptions hear of the whole fleet.
func newFleetwide(t *testing.T) *rig {
	t.Helper()
	return newRig(t, rigOptions{probe: true, endpoint: func(ep *proxy.Endpoint) { ep.FleetNotifications = true }})
}

const listsFilter = `{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}`

// The access record names all who serve a subscription, those too that joined it late and that others share.
func TestRecordOfASubscriptionNamesAllThatAcknowledgedIt(t *testing.T) {
	for name, c := range map[string]struct {
		fleetwide bool
		want      string
	}{"own stream": {false, "a"}, "shared streams": {true, "a,b,c"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				access := new(lines)
				f := newRig(t, rigOptions{
					probe: true, picker: new(routing.RoundRobin),
					endpoint: func(ep *proxy.Endpoint) { ep.FleetNotifications = c.fleetwide },
					options:  func(o *proxy.Options) { o.AccessLog = slog.New(slog.NewJSONHandler(access, nil)) },
				})
				f.servers[2].inject(onMethod("subscriptions/listen", func(http.ResponseWriter, *http.Request, []byte) bool {
					time.Sleep(3 * time.Second) // its leg joins after the acknowledgement
					return false
				}))
				s := f.subscribe("7", listsFilter)
				time.Sleep(5 * time.Second)
				s.cancel()
				<-s.done
				synctest.Wait()
				if got := access.take(t); len(got) != 1 || got[0]["upstream"] != c.want {
					t.Errorf("got %v, want the upstreams %s", got, c.want)
				}
			})
		})
	}
}

// Every subscriber hears of every instance, and an instance has one stream for all of
// them, which ends with the last.
func TestFleetNotificationsShareOneStreamPerInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleetwide(t)
		var all []*subscriber
		for i := range 20 {
			all = append(all, f.subscribe(fmt.Sprint(100+i), listsFilter))
		}
		synctest.Wait()
		for _, s := range all {
			if got := s.agreed(); got != listsFilter {
				t.Fatalf("agreed to %s, want %s", got, listsFilter)
			}
		}
		for _, server := range f.servers {
			if n := server.Calls("subscriptions/listen"); n != 1 {
				t.Errorf("%s has %d streams, want 1", server.Name, n)
			}
			server.Announce("notifications/resources/updated", map[string]any{"uri": "file:///a"})
			server.Announce("notifications/tools/list_changed", nil)
			synctest.Wait()
		}
		for _, s := range all {
			if got := s.told(); len(got) != 6 || got[4] != "resources/updated file:///a" || got[5] != "tools/list_changed" {
				t.Errorf("subscription %s was told %v, want two things by each of three", s.id, got)
			}
		}
		time.Sleep(time.Second) // an exchange is watched once it has gone on for some milliseconds
		for i, s := range all {
			for _, server := range f.servers {
				if server.Hangups("subscriptions/listen") != 0 {
					t.Fatalf("%s was left with %d subscribers there", server.Name, len(all)-i)
				}
			}
			s.cancel()
			<-s.done
			synctest.Wait()
		}
		for _, server := range f.servers {
			if server.Hangups("subscriptions/listen") != 1 {
				t.Errorf("%s still has its stream", server.Name)
			}
		}
	})
}

// Who could be told apart shares nothing: other filters, other credentials.
func TestFleetNotificationsAreSharedByEqualsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleetwide(t)
		for i, c := range []struct{ filter, token string }{
			{listsFilter, "a"},
			{`{"resourceSubscriptions":["file:///a","file:///a"],"toolsListChanged":true}`, "a"},
			{listsFilter, "b"},
			{`{"toolsListChanged":true}`, "a"},
		} {
			f.subscribe(fmt.Sprint(i), c.filter, "Authorization", "Bearer "+c.token)
		}
		synctest.Wait()
		for _, server := range f.servers {
			if n := server.Calls("subscriptions/listen"); n != 3 {
				t.Errorf("%s has %d streams, want 3", server.Name, n)
			}
		}
	})
}

// Of a notification that is too long to be held subscribers are told what it is about.
func TestALongFleetNotificationIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleetwide(t)
		s := f.subscribe("1", listsFilter)
		synctest.Wait()
		f.servers[0].Announce("notifications/resources/updated", map[string]any{"uri": "file:///a", "what": strings.Repeat("x", 300<<10)})
		f.servers[0].Announce("notifications/tools/list_changed", map[string]any{"what": strings.Repeat("x", 300<<10)})
		synctest.Wait()
		f.servers[1].Announce("notifications/tools/list_changed", nil)
		synctest.Wait()
		if got, want := s.told(), []string{"resources/updated file:///a", "tools/list_changed", "tools/list_changed"}; !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
	})
}

// A list of no resources is as good as none.
func TestAFleetwideSubscriptionMayListNoResources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleetwide(t)
		s := f.subscribe("1", `{"toolsListChanged":true,"resourceSubscriptions":[]}`)
		synctest.Wait()
		f.servers[0].Announce("notifications/tools/list_changed", nil)
		synctest.Wait()
		if got := s.told(); !slices.Equal(got, []string{"tools/list_changed"}) {
			t.Errorf("told %v, want the change", got)
		}
	})
}

// An instance that was away when the subscription began, or went meanwhile, is joined
// when it comes.
func TestInstancesThatComeAreJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleetwide(t)
		f.servers[2].kill()
		s := f.subscribe("1", listsFilter)
		synctest.Wait()
		f.servers[1].kill()
		time.Sleep(time.Minute)
		f.servers[1].start("b")
		f.servers[2].start("c")
		time.Sleep(30 * time.Second)
		for _, server := range f.servers {
			server.Announce("notifications/tools/list_changed", nil)
			synctest.Wait()
		}
		if got := s.told(); !slices.Equal(got, []string{"tools/list_changed", "tools/list_changed", "tools/list_changed"}) {
			t.Errorf("told %v, want a change of each", got)
		}
	})
}

// A client that takes nothing holds up no other, and is told once of what happened
// many times.
func TestSlowSubscriberHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleetwide(t)
		blocked := f.open(f.modernRequest(t.Context(), "subscriptions/listen", "", `"notifications":`+listsFilter))
		defer blocked.Body.Close()
		s := f.subscribe("1", listsFilter)
		synctest.Wait()
		for range 500 {
			f.servers[0].Announce("notifications/tools/list_changed", nil)
			synctest.Wait()
		}
		if got := s.told(); len(got) != 500 {
			t.Errorf("told %d times, want 500", len(got))
		}
		lines := newEventLines(t, blocked)
		told := 0
		go func() { time.Sleep(time.Second); f.proxy.Drain() }()
		for event := lines.event(); eventsIn(event + "\n\n")[0][:20] != `{"jsonrpc":"2.0","id`[:20]; event = lines.event() {
			told++
		}
		if told < 2 || told > 6 {
			t.Errorf("the slow one was told %d times, want the acknowledgement and a few", told)
		}
	})
}

// An instance may change all that it has at once. Whoever comes to read it in time is
// told of each change; only who falls behind for good is cut off.
func TestManyChangesAtOnceCutNobodyOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 8000
		f := newFleetwide(t)
		uris := make([]string, most)
		for i := range uris {
			uris[i] = fmt.Sprintf("file:///%d", i)
		}
		list, _ := json.Marshal(uris) // strings always marshal
		request := f.modernRequest(t.Context(), "subscriptions/listen", "", `"notifications":{"resourceSubscriptions":`+string(list)+`}`)
		slow := f.open(request)
		defer slow.Body.Close()
		synctest.Wait()
		change := func(from, to int) {
			for _, uri := range uris[from:to] {
				f.servers[0].Announce("notifications/resources/updated", map[string]any{"uri": uri})
			}
			synctest.Wait()
		}
		change(0, 1000)
		lines := newEventLines(t, slow)
		for told := 0; told < 1000; {
			if strings.Contains(lines.event(), "resources/updated") {
				told++
			}
		}
		change(0, most)
		if _, err := io.Copy(io.Discard, slow.Body); err == nil {
			t.Error("the stream of a client that was left behind ended as if it were whole")
		}
	})
}

// A refusal is each subscriber's own, and who comes later asks anew.
func TestRefusalOfASharedStreamReachesEachSubscriber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleetwide(t)
		for _, server := range f.servers {
			server.inject(onMethod("subscriptions/listen", func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
				time.Sleep(time.Second)
				w.WriteHeader(403)
				fmt.Fprint(w, "not you")
				return true
			}))
		}
		replies := make(chan reply)
		for range 5 {
			go func() { replies <- f.modern("subscriptions/listen", "", `"notifications":`+listsFilter) }()
		}
		for range 5 {
			if r := <-replies; r.status != 403 || r.body != "not you" {
				t.Errorf("got %d %q", r.status, r.body)
			}
		}
		for _, server := range f.servers {
			server.inject(nil)
		}
		if s := f.subscribe("1", listsFilter); s.status != 200 {
			t.Errorf("later: got %d", s.status)
		}
	})
}

// A stream that was refused is not waited for, though a slow client has not heard of
// its end yet.
func TestRefusedStreamIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleetwide(t)
		slow := f.open(f.modernRequest(t.Context(), "subscriptions/listen", "", `"notifications":`+listsFilter))
		defer slow.Body.Close()
		synctest.Wait()
		for range 20 {
			f.servers[0].Announce("notifications/tools/list_changed", nil)
			synctest.Wait()
		}
		f.servers[1].kill()
		f.servers[1].inject(onMethod("subscriptions/listen", func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
			w.WriteHeader(403)
			return true
		}))
		f.servers[1].start("b")
		time.Sleep(5 * time.Second)
		if took := elapsed(func() { f.subscribe("1", listsFilter) }); took != 0 {
			t.Errorf("acknowledged after %v, want at once", took)
		}
	})
}

// Tasks and what concerns the fleet are one stream.
func TestTasksAndFleetNotificationsAreOneStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleetwide(t)
		id := f.newTask(30)
		filter := tasksFilter(`"toolsListChanged":true,`, id)
		s := f.subscribe(`"x"`, filter)
		synctest.Wait()
		if got := s.agreed(); got != filter {
			t.Errorf("agreed to %s, want %s", got, filter)
		}
		for _, server := range f.servers {
			server.Announce("notifications/tools/list_changed", nil)
			synctest.Wait()
		}
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if got := s.told(); len(got) != 4 || got[3] != id+" completed" {
			t.Errorf("told %v", got)
		}
	})
}

// An instance that answers, but cannot serve yet, is not given up.
func TestInstanceThatIsNotReadyYetIsJoinedLater(t *testing.T) {
	for _, status := range []int{http.StatusInternalServerError, http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleetwide(t)
				s := f.subscribe("1", listsFilter)
				synctest.Wait()
				f.servers[1].kill()
				f.servers[1].inject(onMethod("subscriptions/listen", func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
					w.WriteHeader(status)
					return true
				}))
				f.servers[1].start("b")
				time.Sleep(10 * time.Second)
				f.servers[1].inject(nil)
				time.Sleep(30 * time.Second)
				f.servers[1].Announce("notifications/tools/list_changed", nil)
				synctest.Wait()
				if got := s.told(); len(got) != 1 {
					t.Errorf("told %v, want the change", got)
				}
			})
		})
	}
}
