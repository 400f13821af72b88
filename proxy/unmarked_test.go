package proxy_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
	"berth/proxy"
	"berth/proxy/bridge"
	"berth/routing"
	"berth/routing/profile"
)

// A request that is modern by its body alone is refused before a server of the legacy era, as a modern server does. A lenient pool takes the
// version from the body.
func TestAModernRequestWithoutItsVersionDoesNotPassTheBridge(t *testing.T) {
	for lenient, want := range map[bool]int{false: http.StatusBadRequest, true: http.StatusOK} {
		synctest.Test(t, func(t *testing.T) {
			var b *bridge.Bridge
			f := newRig(t, rigOptions{size: 1, upstream: func(_ int, u *routing.Upstream) { u.Era = profile.SpokenLegacy }, endpoint: func(ep *proxy.Endpoint) {
				ep.Lenient = lenient
				b = bridgeAt(t, ep)
			}})
			f.background(b.Run)
			r := f.modernRequest(t.Context(), "tools/call", "greet", `"name":"greet","arguments":{"name":"x"}`)
			r.Header.Del(mcp.HeaderVersion)
			got := f.do(r)
			m := got.message(t)
			if got.status != want || (m.Error != nil) == lenient {
				t.Errorf("lenient %v: got %d %s", lenient, got.status, got.body)
			}
			if m.Error != nil && m.Error.Code != mcp.CodeHeaderMismatch {
				t.Errorf("got %s, want %d", got.body, mcp.CodeHeaderMismatch)
			}
			if n := f.servers[0].Calls("tools/call"); (n == 1) != lenient {
				t.Errorf("lenient %v: the tool ran %d times", lenient, n)
			}
			time.Sleep(20 * time.Minute) // what the bridge holds has run out
		})
	}
}
