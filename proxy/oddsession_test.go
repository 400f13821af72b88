package proxy_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// A session's id is visible ASCII (2025-11-25, transports, "Session Management"). What
// proxies and clients read differently, or cannot send back, is no session.
func TestSessionIDThatNobodyCanSendBackIsRefused(t *testing.T) {
	for name, ids := range map[string][]string{
		"too long": {strings.Repeat("x", 2049)}, "blank within": {"a b"}, "tab": {"a\tb"}, "not ASCII": {"sitzung-\u00e4"}, "a byte": {"a\xffb"}, "two": {"a", "b"},
	} {
		for _, method := range []string{"initialize", "tools/list"} {
			t.Run(name+", "+method, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newRig(t, rigOptions{size: 1})
					f.servers[0].inject(onMethod(method, func(w http.ResponseWriter, r *http.Request, body []byte) bool {
						w.Header()["Mcp-Session-Id"] = ids
						return sayResult(`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`)(w, r, body)
					}))
					r := f.legacy("", method, `"protocolVersion":"2025-11-25"`)
					r.fails(t, http.StatusBadGateway, -32603, "bad_upstream_response", false)
					if r.header.Get("Mcp-Session-Id") != "" {
						t.Errorf("the client is told %q", r.header["Mcp-Session-Id"])
					}
					for _, id := range ids {
						if b, err := f.sessionBinding(id); err == nil {
							t.Errorf("%q is bound: %+v", id, b)
						}
					}
				})
			})
		}
	}
}

// All of visible ASCII is let through, up to the longest that is looked up.
func TestSessionIDOfVisibleASCIIIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var id strings.Builder
		for b := byte(0x21); b <= 0x7e; b++ {
			id.WriteByte(b)
		}
		id.WriteString(strings.Repeat("x", 2048-id.Len()))
		f := newRig(t, rigOptions{size: 1})
		f.servers[0].inject(onMethod("initialize", func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			w.Header().Set("Mcp-Session-Id", id.String())
			return sayResult(`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`)(w, r, body)
		}))
		if got := f.initialize(); got != id.String() {
			t.Errorf("got %q", got)
		}
		if _, err := f.sessionBinding(id.String()); err != nil {
			t.Error(err)
		}
	})
}
