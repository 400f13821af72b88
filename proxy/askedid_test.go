package proxy_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/proxy"
)

// knows has s tell of a task of the guessed id whenever it is asked for it.
func (s *rigServer) knows(status string) {
	says := `{"jsonrpc":"2.0","id":ID,"result":{"resultType":"complete","taskId":"7","status":"` + status + `","ttlMs":3600000,"by":"` + s.Name + `"}}`
	s.inject(onMethod("tasks/get", func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		return say(jsonType, withID(says, body))(w, r, body)
	}))
}

func recovering(ep *proxy.Endpoint) { ep.Router.Recover = true }

// squatter asks for the guessed id, which a knows by the client's own word, and goes on
// asking; the next work is b's, which hands that id out.
func (f *rig) squatter(status string, header ...string) {
	f.t.Helper()
	f.servers[0].knows(status)
	for range 2 {
		if r := f.poll(guessed, header...); !strings.Contains(r.body, `"by":"a"`) {
			f.t.Fatalf("poll: got %d %s, want a's answer", r.status, r.body)
		}
	}
	f.handOut(f.servers[1])
	f.pool.Upstreams()[0].Draining = true
}

// An upstream may take ids that clients make whatever berth makes of them. What the fleet
// says of an id that somebody names keeps no server from giving it out, and cancels nothing.
func TestAskedForIDYieldsToItsCreation(t *testing.T) {
	for name, o := range map[string]rigOptions{
		"nobody told apart": {},
		"principals":        {principals: true, endpoint: recovering},
	} {
		t.Run(name, func(t *testing.T) {
			f := newRig(t, o)
			f.squatter("working", userHeader, "mallory")
			if got := f.servers[0].Calls("tasks/get"); got != 3 {
				t.Errorf("a saw %d requests, want the question and two polls", got)
			}
			if r := f.modern("tools/call", "slow_compute", slowTool, userHeader, "alice"); r.status != http.StatusOK || r.message(t).Result.TaskID != guessed {
				t.Errorf("creation: got %d %s", r.status, r.body)
			}
			if r := f.poll(guessed, userHeader, "alice"); !strings.Contains(r.body, `"by":"b"`) {
				t.Errorf("poll: got %d %s, want b's answer", r.status, r.body)
			}
			if r := f.poll(guessed, userHeader, "mallory"); o.principals && r.message(t).Error == nil {
				t.Errorf("another's poll: got %d %s", r.status, r.body)
			}
			if got := f.calls("tasks/cancel"); got != 0 {
				t.Errorf("%d tasks were cancelled", got)
			}
		})
	}
}

// What was seen of another task of that id is not told of the new one.
func TestCreationForgetsWhatWasSeenUnderItsID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		f.squatter("completed")
		f.modern("tools/call", "slow_compute", slowTool)
		f.servers[1].inject(onMethod("tasks/get", reset))
		if r := f.poll(guessed); strings.Contains(r.body, "completed") {
			t.Errorf("got %d %s, want nothing of the other task", r.status, r.body)
		}
	})
}

// A denial that comes late is of an owner who is none any more.
func TestLateDenialLeavesTheIDToItsCreator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		f.squatter("working")
		f.servers[0].inject(onMethod("tasks/get", func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			time.Sleep(time.Second)
			return say(jsonType, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Task not found"}}`)(w, r, body)
		}))
		late := make(chan reply)
		go func() { late <- f.poll(guessed) }()
		synctest.Wait()
		f.modern("tools/call", "slow_compute", slowTool)
		(<-late).refusedWith(t, -32602)
		if got := f.owner(guessed); got != "b" {
			t.Errorf("bound to %q, want b", got)
		}
	})
}
