package proxy_test

import (
	"fmt"
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

// A poll of a legacy server's own task changes nothing, so that a server which is not well for a moment, or breaks its answer off, is asked once
// more; then the task is told as it was last seen, as that of a modern server.
func TestABridgedPollOutlastsAServersTrouble(t *testing.T) {
	const silence = "does not answer"
	troubles := map[string]faultFunc{"an answer that breaks off": breaksOff}
	for _, status := range []int{500, 502, 504} {
		troubles[fmt.Sprint(status)] = sayStatus(status, "text/html", "<html>")
	}
	for name, trouble := range troubles {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b *bridge.Bridge
				f := newRig(t, rigOptions{size: 1, upstream: func(_ int, u *routing.Upstream) { u.Era = profile.SpokenLegacy }, endpoint: func(ep *proxy.Endpoint) {
					b = bridgeAt(t, ep)
				}})
				f.background(b.Run)
				id := f.newTask(3600)
				f.poll(id)
				before := f.calls("tasks/get")
				f.servers[0].inject(onMethod("tasks/get", onlyOnce(trouble)))
				if r := f.poll(id); r.message(t).Result == nil || strings.Contains(r.body, silence) {
					t.Errorf("once: got %d %s, want the server's answer", r.status, r.body)
				}
				f.servers[0].inject(onMethod("tasks/get", trouble))
				if r := f.poll(id); r.message(t).Result == nil || !strings.Contains(r.body, silence) {
					t.Errorf("got %d %s, want the task as last seen", r.status, r.body)
				}
				if n := f.calls("tasks/get") - before; n != 4 {
					t.Errorf("%d polls at the server, want 4", n)
				}
				time.Sleep(time.Minute)
				f.poll(id).fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
				f.servers[0].inject(onMethod("tasks/cancel", trouble))
				f.modern("tasks/cancel", id, byID(id))
				if n := f.calls("tasks/cancel"); n != 1 {
					t.Errorf("%d cancellations at the server, want 1", n)
				}
				time.Sleep(20 * time.Minute) // what the bridge holds has run out
			})
		})
	}
}
