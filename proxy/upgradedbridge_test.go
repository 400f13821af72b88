package proxy_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/proxy"
	"berth/proxy/bridge"
	"berth/routing"
	"berth/routing/profile"
	"berth/upgrade"
)

// newBridgedRig is a rig of an instance of the legacy era that the bridge shows as modern. takes says with which status it takes a client's
// answers.
func newBridgedRig(t *testing.T, takes int, change func(*upgrade.Rule)) *coreRig {
	t.Helper()
	var b *bridge.Bridge
	f := newCoreRig(t, rigOptions{
		upstream: func(_ int, u *routing.Upstream) { u.Era = profile.SpokenLegacy },
		endpoint: func(ep *proxy.Endpoint) {
			b = bridgeAt(t, ep)
		},
	}, change)
	f.background(b.Run)
	f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		var m struct{ Method *string }
		if r.Method == http.MethodPost && json.Unmarshal(body, &m) == nil && m.Method == nil && takes != http.StatusAccepted {
			w.WriteHeader(takes)
			return true
		}
		return f.tool.serve(w, r, body)
	})
	return f
}

// A task that fails since its server does not take its client's answer has its call cancelled there: nobody brings the answer any more.
func TestATaskWhoseAnswerIsNotTakenCancelsItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newBridgedRig(t, http.StatusServiceUnavailable, nil)
		id := f.upgraded.made()
		call := <-f.tool.calls
		call.say(`{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{"n":{"type":"string"}}}}}`)
		v := f.upgraded.reaches(id, "input_required")
		for key := range v.InputRequests {
			f.answer(id, `{"`+key+`":{"action":"decline"}}`)
		}
		v = f.upgraded.reaches(id, "failed")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if told := strings.Join(f.tool.answers(), "\n"); !strings.Contains(told, `"requestId":`+string(call.id)) {
			t.Errorf("the task failed with %s, and the server was told %q", v.Error, told)
		}
	})
}

// A server is told why nobody wants a call any more: its client has cancelled the task, or that took longer than it may; before the call has
// asked anything, while it waits for the answer, and behind that.
func TestAServerIsToldWhyATasksCallIsGivenUp(t *testing.T) {
	const ask = `{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{"n":{"type":"string"}}}}}`
	for _, at := range []string{"the call", "the question", "the answer"} {
		for end, want := range map[string]string{"cancelled": "the client has cancelled it", "failed": "it has timed out"} {
			if end == "failed" && at == "the question" {
				continue // a task does not time out while its client is asked
			}
			synctest.Test(t, func(t *testing.T) {
				f := newBridgedRig(t, http.StatusAccepted, func(r *upgrade.Rule) {
					if end == "failed" {
						r.TTL, r.Timeout = time.Minute, 30*time.Second
					}
				})
				id := f.upgraded.made()
				call := <-f.tool.calls
				if at != "the call" {
					call.say(ask)
					for key := range f.upgraded.reaches(id, "input_required").InputRequests {
						if at == "the answer" {
							f.answer(id, `{"`+key+`":{"action":"decline"}}`)
							f.upgraded.reaches(id, "working")
						}
					}
				}
				synctest.Wait()
				if end == "cancelled" {
					f.modern("tasks/cancel", id, `"taskId":"`+id+`"`)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				var told []string
				for _, m := range f.tool.answers() {
					if strings.Contains(m, "notifications/cancelled") {
						told = append(told, m)
					}
				}
				if len(told) != 1 || !strings.Contains(told[0], `"requestId":`+string(call.id)+`,"reason":"`+want+`"`) {
					t.Errorf("%s at %s: the server was told %q", end, at, told)
				}
			})
		}
	}
}

// A call whose client is asked ends at its server when its task expires: nobody can answer any more.
func TestACallThatAsksEndsWithItsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newBridgedRig(t, http.StatusAccepted, func(r *upgrade.Rule) { r.TTL = time.Minute })
		id := f.upgraded.made()
		call := <-f.tool.calls
		call.say(`{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{"n":{"type":"string"}}}}}`)
		f.upgraded.reaches(id, "input_required")
		time.Sleep(50 * time.Second)
		synctest.Wait()
		if told := f.tool.answers(); len(told) != 0 {
			t.Errorf("the task lives, and the server was told %q", told)
		}
		time.Sleep(15 * time.Second)
		synctest.Wait()
		told := strings.Join(f.tool.answers(), "\n")
		if !strings.Contains(told, `"id":7,"result":{"action":"cancel"}`) || !strings.Contains(told, `"requestId":`+string(call.id)+`,"reason":"its task has expired"`) {
			t.Errorf("the task has expired, and the server was told %q", told)
		}
	})
}
