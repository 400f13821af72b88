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
)

// newBridgedRig is a rig of an instance of the legacy era that the bridge shows as modern. takes says with which status it takes a client's
// answers.
func newBridgedRig(t *testing.T, takes int) *coreRig {
	t.Helper()
	var b *bridge.Bridge
	f := newCoreRig(t, rigOptions{
		upstream: func(_ int, u *routing.Upstream) { u.Era = profile.SpokenLegacy },
		endpoint: func(ep *proxy.Endpoint) {
			b = bridgeAt(t, ep)
		},
	}, nil)
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
		f := newBridgedRig(t, http.StatusServiceUnavailable)
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
