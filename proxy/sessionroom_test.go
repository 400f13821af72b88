package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"berth/proxy"
)

// introduces sends an initialize with so much of the client's own choice in it; header are pairs.
func (f *rig) introduces(size int, header ...string) reply {
	f.t.Helper()
	params := `"protocolVersion":"2025-11-25","capabilities":{"experimental":{"x":{"y":"` + strings.Repeat("y", size) + `"}}},"clientInfo":{"name":"c","version":"1"}`
	return f.do(f.request(f.t.Context(), http.MethodPost, message("initialize", params), header...))
}

// TestOneCallersSessionsKeepAShare: who keeps as much as one may is turned away before its server hears of it, others are not, and a
// session that ends makes room.
func TestOneCallersSessionsKeepAShare(t *testing.T) {
	f := newRig(t, rigOptions{principals: true, endpoint: func(ep *proxy.Endpoint) { ep.Reinit = true }})
	f.bindings.SetPerCaller(40 << 10)
	var last string
	n := 0
	for ; n < 100; n++ {
		r := f.introduces(8<<10, userHeader, "eve")
		if r.status != 200 {
			break
		}
		last = r.header.Get("Mcp-Session-Id")
	}
	if n < 2 || n > 4 {
		t.Fatalf("eve has opened %d sessions of 8 KiB and more", n)
	}
	heard := f.calls("initialize")
	f.introduces(8<<10, userHeader, "eve").fails(t, 429, -31429, "too_many_sessions", true)
	if f.calls("initialize") != heard {
		t.Error("a server has heard of it")
	}
	if r := f.introduces(8<<10, userHeader, "alice"); r.status != 200 {
		t.Errorf("alice gets %v", r)
	}
	if r := f.end(last, userHeader, "eve"); r.status/100 != 2 {
		t.Fatalf("the end of a session gets %v", r)
	}
	if r := f.introduces(100, userHeader, "eve"); r.status != 200 {
		t.Errorf("in the place of one that has ended: %v", r)
	}
}

// A value for which its caller has no room is not kept: its calls are led as others are. What is kept stays.
func TestOneCallersValuesKeepAShare(t *testing.T) {
	f := together(t, rigOptions{principals: true})
	f.bindings.SetPerCaller(4 << 10)
	stays := func(caller, value string) bool {
		first := f.whoWith("Mcp-Param-Label", value, userHeader, caller)
		return f.whoWith("Mcp-Param-Label", value, userHeader, caller) == first
	}
	n := 0
	for n < 20 && stays("eve", fmt.Sprint("cart ", n)) {
		n++
	}
	if n < 2 || n > 5 {
		t.Errorf("%d values of eve's are kept", n)
	}
	if !stays("eve", "cart 0") || !stays("alice", "hers") {
		t.Error("one that was kept, or another caller's, is not")
	}
}
