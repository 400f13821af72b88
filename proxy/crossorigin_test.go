package proxy_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/mcptest"
	"berth/proxy"
	"berth/upgrade"
)

const somePage = "http://localhost:6274"

// letsRead has an instance say which page may read its answers.
func letsRead(page string) func(*mcptest.Server) {
	return func(s *mcptest.Server) {
		s.Intercept = func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
			w.Header().Set("Access-Control-Allow-Origin", page)
			w.Header().Set("Vary", "Origin")
			return false
		}
	}
}

func (r reply) readers() string {
	return r.header.Get("Access-Control-Allow-Origin") + " " + r.header.Get("Vary")
}

// TestPageMayReadASharedAnswer: if the instance lets it, as it may read the instance's own.
func TestPageMayReadASharedAnswer(t *testing.T) {
	for name, server := range map[string]func(*mcptest.Server){
		"JSON":   letsRead(somePage),
		"events": func(s *mcptest.Server) { s.SSE = true; letsRead(somePage)(s) },
	} {
		b := start(t, setup{server: server, endpoint: func(ep *proxy.Endpoint) { ep.Coalesce = 5 * time.Second }})
		id := b.modern("tools/call", "slow_compute", slowTool).lastEvent().parsed().Result.TaskID
		for range 2 {
			if r := b.modern("tasks/get", id, byID(id), "Origin", somePage); r.status != 200 || r.readers() != somePage+" Origin" {
				t.Errorf("%s: got %v, readers %q", name, r, r.readers())
			}
		}
		if n := b.fleet[0].Calls("tasks/get") + b.fleet[1].Calls("tasks/get") + b.fleet[2].Calls("tasks/get"); n != 1 {
			t.Errorf("%s: the upstream saw %d polls, want 1", name, n)
		}
	}
}

// TestPageMayReadAListThatAllInstancesLetItRead: and no other.
func TestPageMayReadAListThatAllInstancesLetItRead(t *testing.T) {
	for name, c := range map[string]struct {
		server func(*mcptest.Server)
		want   string
	}{
		"all let it": {letsRead(somePage), somePage + " Origin"},
		"one does not": {func(s *mcptest.Server) {
			if s.Name != "b" {
				letsRead(somePage)(s)
			}
		}, " "},
		"none does": {nil, " "},
	} {
		b := start(t, setup{server: c.server})
		if r := b.legacy("", "tasks/list", "", "Origin", somePage); r.status != 200 || r.readers() != c.want {
			t.Errorf("%s: got %v, readers %q, want %q", name, r, r.readers(), c.want)
		}
	}
}

// undeclaredMeta is the metadata of a modern client that takes no tasks.
const undeclaredMeta = `"_meta":{` + metaVersion + `,"io.modelcontextprotocol/clientCapabilities":{}}`

const listedPage = "http://localhost:9999"

// rule is what an answer says of the pages that may read it.
func (r reply) rule() string {
	var said []string
	for _, name := range slices.Sorted(maps.Keys(r.header)) {
		if strings.HasPrefix(name, "Access-Control-") || name == "Vary" {
			said = append(said, name+": "+strings.Join(r.header[name], " | "))
		}
	}
	return strings.Join(said, "\n")
}

// What answers of berth's own say to a page: of a listed origin, and of one that a rule
// lets in.
const (
	exposed    = "Access-Control-Expose-Headers: Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After\nVary: Origin"
	listedRule = "Access-Control-Allow-Credentials: true\nAccess-Control-Allow-Origin: " + listedPage + "\n" + exposed
	someRule   = "Access-Control-Allow-Origin: " + somePage + "\n" + exposed
)

// TestPageMayReadWhatBerthSays: handles, polls, streams, and refusals of every kind.
func TestPageMayReadWhatBerthSays(t *testing.T) {
	f := newUpgraded(t, rigOptions{endpoint: func(ep *proxy.Endpoint) { ep.Origins = []string{listedPage} }}, nil)
	f.answers(sayResult(done))
	page := []string{"Origin", listedPage}
	handle := f.callTool(page...)
	id := f.taskOf(handle)
	f.reaches(id, "completed")
	f.servers[0].inject(knowsNoSubscriptions)
	send := func(method, body string, header ...string) reply {
		return f.do(f.request(t.Context(), method, body, append(header, page...)...))
	}
	subscription := f.open(f.modernRequest(t.Context(), "subscriptions/listen", "", `"notifications":`+tasksFilter("", id), page...))
	subscription.Body.Close()
	for name, c := range map[string]struct {
		reply  reply
		status int
	}{
		"a handle":            {handle, 200},
		"a poll":              {f.poll(id, page...), 200},
		"a cancellation":      {f.modern("tasks/cancel", id, byID(id), page...), 200},
		"a subscription":      {reply{status: subscription.StatusCode, header: subscription.Header}, 200},
		"an unknown task":     {f.poll("no such task", page...), 200},
		"no such method":      {f.modern("tasks/result", id, byID(id), page...), 404},
		"no capability":       {send("POST", message("tasks/get", byID(id)+`,`+undeclaredMeta), modernHeader("tasks/get", id)...), 400},
		"a contradiction":     {send("POST", modernMessage("tasks/get", byID(id)), modernHeader("tasks/get", "x")...), 400},
		"no JSON":             {send("POST", "{"), 400},
		"an unknown session":  {send("POST", message("ping", ""), legacyHeader("gone")...), 404},
		"an encoded body":     {send("POST", "{}", "Content-Encoding", "gzip"), 415},
		"a body too large":    {send("POST", strings.Repeat(" ", 5<<20)), 413},
		"a method of no use":  {send("PUT", ""), 405},
		"a critical hop":      {send("POST", message("ping", ""), "Connection", "Origin"), 400},
		"a result":            {send("POST", message("tasks/result", byID(id)), legacyHeader("")...), 200},
		"a document, refused": {f.do(f.requestAt(t, "/.well-known/x", "PUT", page...)), 405},
	} {
		if c.reply.status != c.status || c.reply.rule() != listedRule {
			t.Errorf("%s: got %v\n%s\nwant %d\n%s", name, c.reply, c.reply.rule(), c.status, listedRule)
		}
	}
	f.servers[0].kill()
	f.eventually("a pool without upstreams", func() bool {
		r := send("POST", message("ping", ""))
		return r.status == 503 && r.rule() == listedRule && r.header.Get("Retry-After") != ""
	})
	if r := f.poll(id); r.rule() != "" {
		t.Errorf("no page: got\n%s", r.rule())
	}
	if r := f.poll(id, "Origin", "https://evil.example"); r.status != 403 || r.rule() != "" {
		t.Errorf("a page that is not let in: got %v\n%s", r, r.rule())
	}
}

// TestOnlyNamedPagesReadWithCredentials: a page that a rule lets in, on loopback or with
// all others, is not known to the operator.
func TestOnlyNamedPagesReadWithCredentials(t *testing.T) {
	for name, change := range map[string]func(*proxy.Endpoint){
		"loopback": nil,
		"all":      func(ep *proxy.Endpoint) { ep.Origins = []string{"*"} },
	} {
		b := start(t, setup{endpoint: change})
		if r := b.post("{", "Origin", somePage); r.status != 400 || r.rule() != someRule {
			t.Errorf("%s: got %v\n%s", name, r, r.rule())
		}
	}
}

// TestUpstreamsSayWhoReadsTheirAnswers: berth adds nothing to what they say, and nothing
// to what they do not say.
func TestUpstreamsSayWhoReadsTheirAnswers(t *testing.T) {
	const fromUpstream = "Access-Control-Allow-Origin: " + somePage + "\nVary: Origin"
	for name, c := range map[string]struct {
		server func(*mcptest.Server)
		want   string
	}{
		"some page": {letsRead(somePage), fromUpstream},
		"nobody":    {nil, ""},
		"events":    {func(s *mcptest.Server) { s.SSE = true }, ""},
	} {
		b := start(t, setup{server: c.server, upstreams: 1})
		for _, r := range []reply{
			b.legacy("", "tools/list", "", "Origin", somePage),
			b.modern("tools/call", "greet", `"name":"greet","arguments":{"name":"x"}`, "Origin", somePage),
			b.legacy("", "tasks/list", "", "Origin", somePage),
		} {
			if r.rule() != c.want {
				t.Errorf("%s: got %v\n%s\nwant\n%s", name, r, r.rule(), c.want)
			}
		}
	}
}

// TestPreflights: an upstream that answers them says what pages may send; where it knows
// of none berth does, to pages that are let in. Otherwise no page could have anything of
// berth's own.
func TestPreflights(t *testing.T) {
	const wish = "authorization, content-type, mcp-method, mcp-name, mcp-protocol-version"
	said := func(status int, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
		}
	}
	granted := "Access-Control-Allow-Headers: " + wish + "\nAccess-Control-Allow-Methods: GET, POST, DELETE\nAccess-Control-Allow-Origin: " + somePage +
		"\nAccess-Control-Expose-Headers: Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After\nAccess-Control-Max-Age: 600" +
		"\nVary: Origin, Access-Control-Request-Method, Access-Control-Request-Headers"
	for name, c := range map[string]struct {
		upstream http.HandlerFunc
		status   int
		want     string
	}{
		"the upstream grants":         {said(204, "Access-Control-Allow-Origin", somePage, "Access-Control-Allow-Headers", "x"), 204, "Access-Control-Allow-Headers: x\nAccess-Control-Allow-Origin: " + somePage},
		"it grants another":           {said(200, "Access-Control-Allow-Origin", "https://other"), 200, "Access-Control-Allow-Origin: https://other"},
		"it refuses, and knows why":   {said(400, "Access-Control-Allow-Methods", "POST", "Vary", "Origin"), 400, "Access-Control-Allow-Methods: POST\nVary: Origin"},
		"it forbids":                  {said(403), 403, ""},
		"it has no such method":       {said(405), 204, granted},
		"it has no such page":         {said(404), 204, granted},
		"it answers something":        {said(200), 204, granted},
		"it takes it for a request":   {said(401), 204, granted},
		"it breaks the exchange off":  {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 204, granted},
		"it sends the page elsewhere": {said(307, "Location", "/x"), 204, granted},
	} {
		b := start(t, setup{handler: c.upstream})
		r := b.send("OPTIONS", "/mcp", "", "Origin", somePage, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", wish)
		if r.status != c.status || r.rule() != c.want {
			t.Errorf("%s: got %v\n%s\nwant %d\n%s", name, r, r.rule(), c.status, c.want)
		}
	}
	b := start(t, setup{handler: said(405)})
	for name, header := range map[string][]string{
		"no page":          {"Access-Control-Request-Method", "POST"},
		"no preflight":     {"Origin", somePage},
		"a page elsewhere": {"Origin", "https://evil.example", "Access-Control-Request-Method", "POST"},
	} {
		if r := b.send("OPTIONS", "/mcp", "", header...); r.status == 204 || r.header.Get("Access-Control-Allow-Methods") != "" {
			t.Errorf("%s: got %v\n%s", name, r, r.rule())
		}
	}
}

// TestPreflightGrantsNobodysName: a page must not name its caller to a proxy that is
// believed, nor say where it came from.
func TestPreflightGrantsNobodysName(t *testing.T) {
	b := start(t, setup{principals: true, handler: http.NotFoundHandler()})
	r := b.send("OPTIONS", "/mcp", "", "Origin", somePage, "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", "content-type,x-user, x-forwarded-for,bad name,mcp-param-region")
	if got := r.header.Get("Access-Control-Allow-Headers"); r.status != 204 || got != "content-type, mcp-param-region" {
		t.Errorf("got %d, %q", r.status, got)
	}
}

// requestAt is a request to another path than the MCP endpoint's.
func (f *rig) requestAt(t *testing.T, path, method string, header ...string) *http.Request {
	r := f.request(t.Context(), method, "", header...)
	r.URL.Path = path
	return r
}

// TestPageMayReadAListOfBerthsOwnTasks: upstreams that list nothing do not say who may.
func TestPageMayReadAListOfBerthsOwnTasks(t *testing.T) {
	o := listed(rigOptions{server: taskless, endpoint: func(ep *proxy.Endpoint) { ep.Origins = []string{listedPage} }})
	f := newCoreRig(t, o, nil)
	id, _ := f.made("", func(c *upgrade.Creation) { c.Principal = "alice" })
	for _, session := range []string{"", f.opens("alice")} {
		r := f.do(f.request(t.Context(), http.MethodPost, message("tasks/list", ""), append(legacyHeader(session), userHeader, "alice", "Origin", listedPage)...))
		if r.status != 200 || !strings.Contains(r.body, id) || r.rule() != listedRule {
			t.Errorf("session %q: got %v\n%s", session, r, r.rule())
		}
	}
}

// TestPageMayReadWhatItWaitsFor: the stream of a tasks/result is berth's own from its
// beginning.
func TestPageMayReadWhatItWaitsFor(t *testing.T) {
	f := newCoreRig(t, rigOptions{endpoint: func(ep *proxy.Endpoint) { ep.Origins = []string{listedPage} }}, nil)
	session := f.initialize()
	id, call := f.made(session)
	resp := f.open(f.request(t.Context(), http.MethodPost, message("tasks/result", byID(id)), append(legacyHeader(session), "Origin", listedPage)...))
	defer resp.Body.Close()
	call.ends(`"result":{}`)
	if r := (reply{header: resp.Header}); resp.Header.Get("Content-Type") != eventsType || r.rule() != listedRule {
		t.Errorf("got %v\n%s", resp.Header, r.rule())
	}
}
