package identity

import (
	"errors"
	"strings"
	"testing"

	"berth/internal/mcp"
	"berth/internal/wire"
)

// What a header names is kept with every binding, as is what a certificate or a token does, and is bounded as they are.
func TestNameInAHeaderIsBounded(t *testing.T) {
	named := func(name string) *wire.Request {
		r := &wire.Request{Header: wire.NewHeader()}
		r.Header.Set("X-User", name)
		return r
	}
	most := strings.Repeat("n", maxPrincipal)
	if got, err := Header("x-user").Identify(named(most), true); got != most || err != nil {
		t.Errorf("the longest name: got %d bytes, %v", len(got), err)
	}
	got, err := Header("x-user").Identify(named(most+"n"), true)
	if refused, ok := errors.AsType[*mcp.Error](err); got != "" || !ok || refused.Status != wire.StatusForbidden || !strings.Contains(refused.Message, "header") {
		t.Errorf("one byte more: got %d bytes, %v", len(got), err)
	}
	if got, err := Header("x-user").Identify(named(most+"n"), false); got != "" || err != nil {
		t.Errorf("of a peer that is not trusted: got %d bytes, %v", len(got), err)
	}
}
