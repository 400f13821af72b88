package proxy_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"berth/proxy"
	"berth/sticky"
	"berth/upgrade"
)

const (
	tasksCapability = `"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}`
	optionalTask    = `"execution":{"taskSupport":"optional"}`
)

// greeting is an answer to initialize in this version.
func greeting(version, capabilities string) string {
	return `{ "jsonrpc":"2.0", "id":1,"result":{"protocolVersion":"` + version + `","capabilities":` + capabilities + `, "serverInfo":{"name":"x","version":1.0}}}`
}

// inSession has an answer to initialize hand out a session.
func inSession(fault faultFunc) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		w.Header().Set("Mcp-Session-Id", "s1")
		return fault(w, r, body)
	}
}

// binding is what the store has of the session that greet hands out.
func (f *rig) bindingOf(session string) sticky.Binding {
	f.t.Helper()
	binding, err := f.bindings.Reload(f.t.Context(), f.router.SessionKey("", session))
	if err != nil {
		f.t.Fatal(err)
	}
	return binding
}

// Clients of the one revision with tasks in its core learn that the server takes them, and
// of nothing else that was not there; and any berth learns what they were told.
func TestInitializeGainsTasks(t *testing.T) {
	const core = "2025-11-25"
	otherPool := func(o *proxy.Options) { o.Rules = upgrade.Rules{{Pool: "other", Tools: []string{"*"}}} }
	bare, added := greeting(core, `{"tools":{}}`), greeting(core, `{"tools":{},`+tasksCapability+`}`)
	own := greeting(core, `{"tasks":{"list": {}},"tools":{}}`)
	failure := `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no","capabilities":{}}}`
	long := greeting(core, `{"x":"`+strings.Repeat("x", 256<<10)+`"}`)
	for name, c := range map[string]struct {
		rules       func(*proxy.Options)
		status      int
		contentType string
		body, want  string
		tasks       string
	}{
		"JSON":                      {withRule, 200, jsonType, bare, added, "added"},
		"none before":               {withRule, 200, jsonType, greeting(core, `{ }`), greeting(core, `{`+tasksCapability+` }`), "added"},
		"event":                     {withRule, 200, eventsType, "id: 0\ndata:\n\n: hi\n\nid:7\nevent: message\ndata: " + bare + "\n\n", "id: 0\ndata:\n\n: hi\n\nid:7\nevent: message\ndata: " + added + "\n\n", "added"},
		"event on two lines, CRLF":  {withRule, 200, eventsType, "data:" + strings.Replace(bare, `, "id"`, ",\r\ndata:"+` "id"`, 1) + "\r\n\r\n", "data:" + strings.Replace(added, `, "id"`, ",\r\ndata:"+`"id"`, 1) + "\r\n\r\n", "added"},
		"has its own":               {withRule, 200, jsonType, own, own, "own"},
		"has its own, event":        {withRule, 200, eventsType, "data:" + own + "\n\n", "data:" + own + "\n\n", "own"},
		"before core had tasks":     {withRule, 200, jsonType, greeting("2025-06-18", `{}`), greeting("2025-06-18", `{}`), ""},
		"before, event":             {withRule, 200, eventsType, "data:" + greeting("2025-03-26", `{}`) + "\n\n", "data:" + greeting("2025-03-26", `{}`) + "\n\n", ""},
		"no rule":                   {nil, 200, jsonType, bare, bare, ""},
		"no rule, has its own":      {nil, 200, jsonType, own, own, ""},
		"no rule for the pool":      {otherPool, 200, jsonType, bare, bare, ""},
		"no rule, event":            {nil, 200, eventsType, "data:" + bare + "\n\n", "data:" + bare + "\n\n", ""},
		"an error":                  {withRule, 200, jsonType, failure, failure, ""},
		"an odd success":            {withRule, 203, jsonType, bare, bare, ""},
		"not to be understood":      {withRule, 200, jsonType, bare[:40], bare[:40], ""},
		"too long":                  {withRule, 200, jsonType, long, long, ""},
		"an event that is not over": {withRule, 200, eventsType, "data: " + bare + "\n", "data: " + added + "\n\n", "added"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newRig(t, rigOptions{options: c.rules})
			f.servers[0].inject(onMethod("initialize", inSession(sayStatus(c.status, c.contentType, c.body))))
			r := f.legacy("", "initialize", `"protocolVersion":"2025-11-25"`)
			if r.status != c.status || r.body != c.want {
				t.Errorf("got %d %.300q, want %.300q", r.status, r.body, c.want)
			}
			if length := r.header.Get("Content-Length"); length != "" && length != strconv.Itoa(len(c.want)) {
				t.Errorf("Content-Length is %s, want %d", length, len(c.want))
			}
			if tasks := f.bindingOf("s1").Tasks; tasks != c.tasks {
				t.Errorf("bound as %q, want %q", tasks, c.tasks)
			}
		})
	}
}

// What an answer gains does not make it one that is refused for its length.
func TestWhatAnAnswerGainsKeepsItWithinItsLimit(t *testing.T) {
	for method, body := range map[string]string{
		"initialize": greeting("2025-11-25", `{}`), "tools/list": tools(`[{"name":"work"}]`), "server/discover": discovery(`{}`),
	} {
		f := newRig(t, rigOptions{options: func(o *proxy.Options) {
			withRule(o)
			o.Limits.Answer = int64(len(body))
		}})
		f.servers[0].inject(onMethod(method, inSession(say(jsonType, body))))
		r := f.do(f.request(t.Context(), http.MethodPost, message(method, `"protocolVersion":"2025-11-25"`), "MCP-Protocol-Version", "2025-11-25"))
		if r.body != body || method == "initialize" && f.bindingOf("s1").Tasks != "" {
			t.Errorf("%s: got %v", method, r)
		}
	}
}

// Only where callers are told apart can they be shown what is theirs.
func TestInitializeGainsListsWithPrincipals(t *testing.T) {
	f := newRig(t, rigOptions{options: withRule, principals: true})
	f.servers[0].inject(onMethod("initialize", say(jsonType, greeting("2025-11-25", `{}`))))
	want := greeting("2025-11-25", `{"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}`)
	r := f.do(f.request(t.Context(), http.MethodPost, message("initialize", `"protocolVersion":"2025-11-25"`), userHeader, "alice"))
	if r.body != want {
		t.Errorf("got %s, want %s", r.body, want)
	}
}

// What a session's client was told is in the store before the client is told it.
func TestWhatASessionWasToldIsKeptFirst(t *testing.T) {
	for name, answer := range map[string]faultFunc{
		"JSON":  say(jsonType, greeting("2025-11-25", `{}`)),
		"event": say(eventsType, "data: "+greeting("2025-11-25", `{}`)+"\n\n"),
	} {
		t.Run(name, func(t *testing.T) {
			var f *rig
			told := false
			look := func(p []byte) {
				if strings.Contains(string(p), tasksCapability) {
					told = true
					if b := f.bindingOf("s1"); b.Tasks != "added" || b.Version != "2025-11-25" {
						t.Errorf("told while bound as %+v", b)
					}
				}
			}
			f = newRig(t, rigOptions{options: withRule, wrap: watchWrites(look), still: true})
			f.servers[0].inject(onMethod("initialize", inSession(answer)))
			f.legacy("", "initialize", `"protocolVersion":"2025-11-25"`)
			if !told {
				t.Error("nobody was told")
			}
		})
	}
}

// A session that moves, or is used, goes on with what its client was told.
func TestWhatASessionWasToldMovesWithIt(t *testing.T) {
	f := newRig(t, reinit(rigOptions{options: withRule}))
	session := f.initialize()
	if b := f.bindingOf(session); b.Upstream != "a" || b.Tasks != "own" {
		t.Fatalf("bound as %+v", b)
	}
	f.lose(f.servers[0])
	if who := f.who(session); who != "b" {
		t.Fatalf("served by %q", who)
	}
	if b := f.bindingOf(session); b.Upstream != "b" || b.Tasks != "own" {
		t.Errorf("moved, and bound as %+v", b)
	}
}

// tools is an answer to tools/list.
func tools(list string) string {
	return `{ "jsonrpc":"2.0", "id":1,"result":{"tools": ` + list + ` ,"nextCursor":"n"}}`
}

// Tools that a rule names and that have no word of their own are shown as what they are.
func TestToolListsGainTaskSupport(t *testing.T) {
	rule := func(required bool) func(o *proxy.Options) {
		return func(o *proxy.Options) { o.Rules = upgrade.Rules{{Tools: []string{"slow_*"}, Required: required}} }
	}
	bare, added := tools(`[{"name":"slow_a"}, {"name":"fast"}]`), tools(`[{"name":"slow_a",`+optionalTask+`}, {"name":"fast"}]`)
	own := tools(`[{"name":"slow_a","execution":{"taskSupport":"required"}},{"name":"slow_b","execution":{"taskSupport":"optional"}},{"name":"slow_c","execution":{"taskSupport":"later"}}]`)
	filler := func(n int) string { return `{"name":"fast","description":"` + strings.Repeat("x", n) + `"}` }
	long, longer := tools(`[`+filler(300<<10)+`,{"name":"slow_a"}]`), tools(`[`+filler(4<<20)+`,{"name":"slow_a"}]`)
	longAdded := tools(`[` + filler(300<<10) + `,{"name":"slow_a",` + optionalTask + `}]`)
	for name, c := range map[string]struct {
		rules       func(*proxy.Options)
		version     string
		status      int
		contentType string
		body, want  string
	}{
		"JSON":                  {rule(false), "2025-11-25", 200, jsonType, bare, added},
		"required":              {rule(true), "2025-11-25", 200, jsonType, bare, strings.Replace(added, "optional", "required", 1)},
		"event":                 {rule(false), "2025-11-25", 200, eventsType, "id: 0\ndata:\n\nid:7\ndata: " + bare + "\n\n", "id: 0\ndata:\n\nid:7\ndata: " + added + "\n\n"},
		"the default, spelt":    {rule(false), "2025-11-25", 200, jsonType, tools(`[{"name":"slow_a","execution":{"taskSupport": "forbidden"}}]`), tools(`[{"name":"slow_a","execution":{"taskSupport": "optional"}}]`)},
		"the default, of fast":  {rule(false), "2025-11-25", 200, jsonType, tools(`[{"name":"fast","execution":{"taskSupport":"forbidden"}}]`), tools(`[{"name":"fast","execution":{"taskSupport":"forbidden"}}]`)},
		"their own":             {rule(true), "2025-11-25", 200, jsonType, own, own},
		"no rule":               {nil, "2025-11-25", 200, jsonType, bare, bare},
		"before":                {rule(false), "2025-06-18", 200, jsonType, bare, bare},
		"before, event":         {rule(false), "2025-06-18", 200, eventsType, "data:" + bare + "\n\n", "data:" + bare + "\n\n"},
		"no version":            {rule(false), "", 200, jsonType, bare, bare},
		"an odd success":        {rule(false), "2025-11-25", 203, jsonType, bare, bare},
		"long":                  {rule(false), "2025-11-25", 200, jsonType, long, longAdded},
		"long, event":           {rule(false), "2025-11-25", 200, eventsType, "data: " + long + "\n\n", "data: " + longAdded + "\n\n"},
		"too long":              {rule(false), "2025-11-25", 200, jsonType, longer, longer},
		"too long, event":       {rule(false), "2025-11-25", 200, eventsType, "data: " + longer + "\n\n", "data: " + longer + "\n\n"},
		"not to be understood":  {rule(false), "2025-11-25", 200, jsonType, bare[:50], bare[:50]},
		"a tool with two names": {rule(false), "2025-11-25", 200, jsonType, tools(`[{"name":"slow_a","name":"fast"},{"name":"slow_b"}]`), tools(`[{"name":"slow_a","name":"fast"},{"name":"slow_b",` + optionalTask + `}]`)},
	} {
		t.Run(name, func(t *testing.T) {
			f := newRig(t, rigOptions{options: c.rules})
			f.servers[0].inject(onMethod("tools/list", sayStatus(c.status, c.contentType, c.body)))
			r := f.do(f.request(t.Context(), http.MethodPost, message("tools/list", ""), "MCP-Protocol-Version", c.version))
			if r.status != c.status || r.body != c.want {
				t.Errorf("got %d %.300q, want %.300q", r.status, r.body, c.want)
			}
			if length := r.header.Get("Content-Length"); length != "" && length != strconv.Itoa(len(c.want)) {
				t.Errorf("Content-Length is %s, want %d", length, len(c.want))
			}
		})
	}
}

// The version that counts is the one that was agreed on, whatever a request says.
func TestToolListsAreOfTheirSession(t *testing.T) {
	for version, want := range map[string]string{
		"2025-11-25": tools(`[{"name":"work",` + optionalTask + `}]`), "2025-06-18": tools(`[{"name":"work"}]`),
	} {
		f := newRig(t, rigOptions{options: withRule})
		f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			return onMethod("initialize", inSession(say(jsonType, greeting(version, `{}`))))(w, r, body) ||
				onMethod("tools/list", say(jsonType, tools(`[{"name":"work"}]`)))(w, r, body)
		})
		f.legacy("", "initialize", `"protocolVersion":"2025-11-25"`)
		for _, header := range [][]string{nil, {"MCP-Protocol-Version", "2025-11-25"}, {"MCP-Protocol-Version", "2025-06-18"}} {
			r := f.do(f.request(t.Context(), http.MethodPost, message("tools/list", ""), append(header, "Mcp-Session-Id", "s1")...))
			if r.body != want {
				t.Errorf("%s, %v: got %s, want %s", version, header, r.body, want)
			}
		}
	}
}
