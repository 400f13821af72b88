package identity

import (
	"crypto/x509"
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

// Whose a task is stands in JSON, which has U+FFFD in the place of what is no UTF-8: two names must not become one there.
func TestNameInAHeaderIsUTF8(t *testing.T) {
	for name, good := range map[string]bool{
		"jos\u00e9": true, "\U0001F600": true, "jos\xe9": false, "jos\xc3": false, "\xed\xa0\x80": false, "\xf8\x88\x80\x80\x80": false, "jos\ufffd": false,
	} {
		r := &wire.Request{Header: wire.NewHeader()}
		r.Header.Set("X-User", name)
		got, err := Header("x-user").Identify(r, true)
		refused, ok := errors.AsType[*mcp.Error](err)
		switch {
		case good && (got != name || err != nil):
			t.Errorf("%q: got %q, %v", name, got, err)
		case !good && (got != "" || !ok || refused.Status != wire.StatusForbidden || !strings.Contains(refused.Message, "UTF-8")):
			t.Errorf("%q: got %q, %v, want 403", name, got, err)
		}
	}
}

func TestNameInACertificateIsUTF8(t *testing.T) {
	for _, leaf := range []*x509.Certificate{{DNSNames: []string{"jos\xe9.example.com"}}, {EmailAddresses: []string{"jos\ufffd@example.com"}}} {
		if got, err := nameOf(leaf); got != "" || !errors.Is(err, errNameText) {
			t.Errorf("%q %q: got %q, %v", leaf.DNSNames, leaf.EmailAddresses, got, err)
		}
	}
}
