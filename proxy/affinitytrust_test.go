package proxy_test

import (
	"net/http"
	"testing"

	"berth/internal/storage/redistest"
	"berth/proxy"
	"berth/routing"
)

// cart is a call that names a cart in its header and, unless argument is "", in its body.
func (f *rig) cart(header, argument string) reply {
	f.t.Helper()
	params := `"name":"who"`
	if argument != "" {
		params += `,"arguments":{"label":` + argument + `}`
	}
	return f.modern("tools/call", "who", params, label(header)...)
}

// A header decides where a call goes, and the body what it does there: one that says
// something else than the other has one of both be believed for nothing.
func TestHeaderOfAParameterIsItsArgument(t *testing.T) {
	f := together(t, rigOptions{})
	for name, tc := range map[string]struct {
		header, argument string
		refused          bool
	}{
		"the same":               {"7", `"7"`, false},
		"encoded":                {"=?base64?Nw==?=", `"7"`, false},
		"a number":               {"7", `7`, false},
		"no argument":            {"7", "", false},
		"another":                {"7", `"8"`, true},
		"another, encoded":       {"=?base64?OA==?=", `"7"`, true},
		"null":                   {"7", `null`, true},
		"beyond ASCII":           {"caf\xc3\xa9", `"café"`, true},
		"encoded, beyond ASCII":  {"=?base64?Y2Fmw6k=?=", `"café"`, false},
		"encoded, and not UTF-8": {"=?base64?/w==?=", "", true},
	} {
		before := f.calls("tools/call")
		r := f.cart(tc.header, tc.argument)
		if tc.refused != (r.status == http.StatusBadRequest && r.code() == -32020) {
			t.Errorf("%s: got %v, want refused %v", name, r, tc.refused)
		}
		if sent := f.calls("tools/call") - before; tc.refused && sent != 0 {
			t.Errorf("%s: sent", name)
		}
	}
}

// In what has no such headers, or is no call of a tool, they mean nothing.
func TestHeaderOfAParameterIsModern(t *testing.T) {
	f := together(t, rigOptions{})
	reached := map[string]bool{}
	for range 3 {
		header := append(legacyHeader(""), label("7")...)
		r := f.do(f.request(t.Context(), http.MethodPost, message("tools/call", `"name":"who","arguments":{"label":"8"}`), header...))
		if m := r.message(t); m.Result != nil {
			reached[m.Result.StructuredContent.Instance] = true
		}
		f.modern("tools/list", "", "", label("7")...)
	}
	if len(reached) != 3 {
		t.Errorf("legacy calls reached %v, want all in turn", reached)
	}
	if got := ownerOf(f.bindings, f.router.AffinityKey("", "mcp-param-label\x007")); got != "" {
		t.Errorf("the value is bound to %s", got)
	}
}

// handsOutCart has an instance answer a call with a cart that it made.
func handsOutCart(by string) faultFunc {
	return say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[],"structuredContent":{"label":"7","instance":"`+by+`"}}}`)
}

// Whoever names a handle before it is handed out does not lead its user astray.
func TestHandedOutHandleBeatsOneInUse(t *testing.T) {
	url := redistest.Start(t).URL()
	o := func() rigOptions {
		return rigOptions{size: 2, store: openStore(t, url), picker: new(routing.RoundRobin), endpoint: func(ep *proxy.Endpoint) { ep.Affinity = []string{"Mcp-Param-Label"} }}
	}
	f := newRig(t, o())
	g := f.second(o())
	for _, berth := range []*rig{f, g} {
		if got := berth.whoWith(label("7")...); got != "a" {
			t.Fatalf("used at %s, want a", got)
		}
	}
	f.servers[1].inject(handsOutCart("b"))
	f.whoWith() // goes to b, in turn
	f.servers[1].inject(nil)
	for name, berth := range map[string]*rig{"one": f, "other": g} {
		for range 2 {
			if got := berth.whoWith(label("7")...); got != "b" {
				t.Errorf("through the %s berth: got %s, want b, which handed it out", name, got)
			}
		}
	}
	f.servers[0].inject(handsOutCart("a"))
	for range 2 {
		f.whoWith()
	}
	f.servers[0].inject(nil)
	if got := g.whoWith(label("7")...); got != "b" {
		t.Errorf("handed out twice: got %s, want b, the first", got)
	}
}
