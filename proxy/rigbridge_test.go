package proxy_test

import (
	"testing"

	"berth/internal/seal"
	"berth/proxy"
	"berth/proxy/bridge"
)

// bridgeAt has upstreams of the legacy era be shown as modern at an endpoint. Where a test needs what the bridge does by itself, it runs it.
func bridgeAt(t testing.TB, ep *proxy.Endpoint) *bridge.Bridge {
	t.Helper()
	keys, err := seal.NewKeyring(make([]byte, seal.MinSecret))
	if err != nil {
		t.Fatal(err)
	}
	b := bridge.New(bridge.Options{Endpoint: ep, Keys: keys})
	ep.Bridge = b
	return b
}
