package proxy_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"berth/proxy"
	"berth/upgrade"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

const capabilitiesMeta = `"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`

// flawed is a request with one thing wrong, and what a server answers.
type flawed struct {
	meta    string            // "": that of a client that takes tasks
	header  map[string]string // "": the header is absent
	strict  [2]int            // status and code
	lenient [2]int            // zero: as strict
}

func missing(name string) map[string]string { return map[string]string{name: ""} }

var served = [2]int{200, 0}

var flaws = map[string]flawed{
	"nothing":                        {strict: served},
	"no Mcp-Method":                  {header: missing("Mcp-Method"), strict: [2]int{400, -32020}, lenient: served},
	"no Mcp-Name":                    {header: missing("Mcp-Name"), strict: [2]int{400, -32020}, lenient: served},
	"no version header":              {header: missing("Mcp-Protocol-Version"), strict: [2]int{400, -32020}, lenient: served},
	"another method":                 {header: map[string]string{"Mcp-Method": "tools/list"}, strict: [2]int{400, -32020}},
	"another name":                   {header: map[string]string{"Mcp-Name": "other"}, strict: [2]int{400, -32020}},
	"another version header":         {header: map[string]string{"Mcp-Protocol-Version": "2027-01-01"}, strict: [2]int{400, -32020}},
	"bytes beyond ASCII in a name":   {header: map[string]string{"Mcp-Name": "wörk"}, strict: [2]int{400, -32020}},
	"and in a parameter":             {header: map[string]string{"Mcp-Param-Region": "Zürich"}, strict: [2]int{400, -32020}},
	"a revision to come":             {meta: `"io.modelcontextprotocol/protocolVersion":"2027-01-01",` + capabilitiesMeta, header: map[string]string{"Mcp-Protocol-Version": "2027-01-01"}, strict: [2]int{400, -32022}},
	"a draft":                        {meta: `"io.modelcontextprotocol/protocolVersion":"DRAFT-7",` + capabilitiesMeta, header: map[string]string{"Mcp-Protocol-Version": "DRAFT-7"}, strict: [2]int{400, -32022}},
	"a revision to come, unmirrored": {meta: `"io.modelcontextprotocol/protocolVersion":"2027-01-01",` + capabilitiesMeta, header: missing("Mcp-Protocol-Version"), strict: [2]int{400, -32020}, lenient: [2]int{400, -32022}},
	"no version in _meta":            {meta: capabilitiesMeta, strict: [2]int{400, -32602}},
	"HTML":                           {header: map[string]string{"Content-Type": "text/html"}, strict: [2]int{415, -32600}},
	"a lookalike of JSON":            {header: map[string]string{"Content-Type": "application/json-seq"}, strict: [2]int{415, -32600}},
	"JSON with a charset":            {header: map[string]string{"Content-Type": "Application/JSON; charset=utf-8"}, strict: served},
	"no type":                        {header: missing("Content-Type"), strict: [2]int{415, -32600}, lenient: served},
	"HTML is accepted":               {header: map[string]string{"Accept": "text/html"}, strict: [2]int{406, -32600}},
	"JSON alone is accepted":         {header: map[string]string{"Accept": "application/json"}, strict: [2]int{406, -32600}, lenient: served},
	"events alone are accepted":      {header: map[string]string{"Accept": "text/event-stream"}, strict: [2]int{406, -32600}},
	"JSON is refused":                {header: map[string]string{"Accept": "application/json;q=0, */*"}, strict: [2]int{406, -32600}},
	"anything is accepted":           {header: map[string]string{"Accept": "*/*"}, strict: served},
	"ranges are accepted":            {header: map[string]string{"Accept": "application/*, text/*;q=0.1"}, strict: served},
	"nothing is said of acceptance":  {header: missing("Accept"), strict: [2]int{406, -32600}, lenient: served},
}

// request makes the flawed request.
func (c flawed) request(f *upgraded, method, name, params string) *http.Request {
	meta := c.meta
	if meta == "" {
		meta = metaVersion + "," + capabilitiesMeta
	}
	r := f.request(f.t.Context(), http.MethodPost, message(method, params+`,"_meta":{`+meta+`}`), modernHeader(method, name)...)
	for name, value := range c.header {
		r.Header.Del(name)
		if value != "" {
			r.Header[http.CanonicalHeaderKey(name)] = []string{value}
		}
	}
	return r
}

func newServing(t *testing.T, lenient bool, meter *sdkmetric.ManualReader) *upgraded {
	f := newUpgraded(t, rigOptions{
		endpoint: func(ep *proxy.Endpoint) { ep.Lenient = lenient },
		options: func(o *proxy.Options) {
			if meter != nil {
				o.Meter = sdkmetric.NewMeterProvider(sdkmetric.WithReader(meter))
			}
		},
	}, func(r *upgrade.Rule) { r.LivePerPrincipal = 1000 })
	f.answers(sayResult(done))
	return f
}

// TestServedRequestsAreValidated: where berth is the server of a task it demands what a
// server must, with "lenient" as far as it is not mirrored for others; and what it refuses
// no upstream hears of.
func TestServedRequestsAreValidated(t *testing.T) {
	for _, lenient := range []bool{false, true} {
		f := newServing(t, lenient, nil)
		id := f.made()
		f.reaches(id, "completed")
		before := len(f.seen.all())
		for _, name := range slices.Sorted(maps.Keys(flaws)) {
			c := flaws[name]
			want := c.strict
			if lenient && c.lenient != [2]int{} {
				want = c.lenient
			}
			for method, params := range map[string]string{"tasks/get": byID(id), "tasks/cancel": byID(id), "tasks/update": byID(id) + `,"inputResponses":{}`} {
				if r := f.do(c.request(f, method, id, params)); [2]int{r.status, r.code()} != want {
					t.Errorf("lenient %v, %s: %s: got %v, want %v", lenient, name, method, r, want)
				}
			}
			if want != served {
				if r := f.do(c.request(f, "tools/call", "work", `"name":"work","arguments":{}`)); [2]int{r.status, r.code()} != want {
					t.Errorf("lenient %v, %s: tools/call: got %v, want %v", lenient, name, r, want)
				}
			}
			if c.header["Mcp-Name"] != "" || name == "no Mcp-Name" {
				continue // a subscription has no name
			}
			resp := f.open(c.request(f, "subscriptions/listen", "", `"notifications":`+tasksFilter("", id)))
			if resp.Body.Close(); resp.StatusCode != want[0] && !strings.Contains(name, "alone") && name != "JSON is refused" {
				t.Errorf("lenient %v, %s: subscription: got %d, want %v", lenient, name, resp.StatusCode, want)
			}
		}
		for _, sent := range f.seen.all()[before:] {
			if sent.msg.Method == "tools/call" {
				t.Errorf("lenient %v: the upstream was sent %s", lenient, sent.body)
			}
		}
		for _, name := range []string{"no Mcp-Method", "no Mcp-Name", "no version header", "no type", "nothing is said of acceptance"} {
			if r := f.do(flaws[name].request(f, "tools/call", "work", `"name":"work","arguments":{}`)); lenient && r.message(t).Result.ResultType != "task" {
				t.Errorf("%s: tools/call: got %v, want a task", name, r)
			}
		}
	}
}

// TestFlawsTellNothingOfAnothersTask: whatever is wrong with a request, it is refused alike for another's task and for an id that
// never was, of berth's form and of none.
func TestFlawsTellNothingOfAnothersTask(t *testing.T) {
	f := newUpgraded(t, rigOptions{principals: true}, nil)
	f.answers(sayNothing)
	id := f.made(userHeader, "alice")
	never := strings.Map(func(r rune) rune { return r ^ 1 }, id[len(id)-1:])
	for _, name := range slices.Sorted(maps.Keys(flaws)) {
		for method, more := range map[string]string{"tasks/get": "", "tasks/cancel": "", "tasks/update": `,"inputResponses":{}`, "tasks/update ": "", "tasks/result": ""} {
			method = strings.TrimSpace(method)
			var told []string
			for _, id := range []string{id, id[:len(id)-1] + never, "t-1"} {
				r := flaws[name].request(f, method, id, byID(id)+more)
				r.Header.Set(userHeader, "bob")
				told = append(told, f.do(r).String())
			}
			if told[0] != told[1] || told[0] != told[2] {
				t.Errorf("%s with %s%s: another's is told of by %s, what never was by %s and %s", method, name, more, told[0], told[1], told[2])
			}
		}
	}
}

// TestUnsupportedVersionNamesWhatIs: so that the client can begin anew.
func TestUnsupportedVersionNamesWhatIs(t *testing.T) {
	f := newServing(t, false, nil)
	r := f.do(flaws["a revision to come"].request(f, "tools/call", "work", `"name":"work","arguments":{}`))
	const want = `"data":{"supported":["2026-07-28"],"requested":"2027-01-01"}`
	if !strings.Contains(r.body, want) {
		t.Errorf("got %v, want %s", r, want)
	}
}

// TestOrderOfRefusalsOfServedRequests: headers, version, metadata, capability, task.
func TestOrderOfRefusalsOfServedRequests(t *testing.T) {
	f := newServing(t, false, nil)
	id := f.made()
	send := func(meta string, header ...string) reply {
		return f.do(f.request(t.Context(), http.MethodPost, message("tasks/get", byID(id)+`,"_meta":{`+meta+`}`), header...))
	}
	future := `"io.modelcontextprotocol/protocolVersion":"2027-01-01"`
	for name, c := range map[string]struct {
		reply reply
		want  int
	}{
		"all":                 {send(future, "Mcp-Protocol-Version", "2027-01-01", "Mcp-Method", "tasks/get"), -32020},
		"but the headers":     {send(future, "Mcp-Protocol-Version", "2027-01-01", "Mcp-Method", "tasks/get", "Mcp-Name", id), -32022},
		"but the version too": {send(metaVersion, modernHeader("tasks/get", id)...), -32602},
		"no capability":       {send(metaVersion+`,"io.modelcontextprotocol/clientCapabilities":{}`, modernHeader("tasks/get", id)...), -32021},
		"no such method":      {f.do(f.request(t.Context(), http.MethodPost, modernMessage("tasks/result", byID(id)), modernHeader("tasks/result", "")...)), -32601},
		"capabilities' kind":  {send(metaVersion+`,"io.modelcontextprotocol/clientCapabilities":[]`, modernHeader("tasks/get", id)...), -32602},
	} {
		if c.reply.code() != c.want || c.reply.status == 200 {
			t.Errorf("%s: got %v, want %d", name, c.reply, c.want)
		}
	}
}

// TestRequiredToolsAreValidated: a call that the rule insists on is refused by berth, as a
// server refuses it.
func TestRequiredToolsAreValidated(t *testing.T) {
	f := newUpgraded(t, rigOptions{}, func(r *upgrade.Rule) { r.Required = true })
	f.answers(sayResult(done))
	for meta, want := range map[string]int{
		metaVersion: -32602,
		metaVersion + `,"io.modelcontextprotocol/clientCapabilities":{}`: -32021,
	} {
		body := message("tools/call", `"name":"work","_meta":{`+meta+`}`)
		if r := f.do(f.request(t.Context(), http.MethodPost, body, modernHeader("tools/call", "work")...)); r.status != 400 || r.code() != want {
			t.Errorf("%s: got %v, want 400 %d", meta, r, want)
		}
	}
	if n := len(f.seen.of("tools/call")); n != 0 {
		t.Errorf("the upstream was called %d times", n)
	}
}

// TestRoutedRequestsAreTheUpstreamsToJudge: but for bytes that no header may have, which
// two readers could take for different things.
func TestRoutedRequestsAreTheUpstreamsToJudge(t *testing.T) {
	f := newRig(t, rigOptions{size: 1, endpoint: func(ep *proxy.Endpoint) { ep.Lenient = true }})
	f.servers[0].inject(say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{}}`))
	g := &upgraded{rig: f}
	for name, c := range flaws {
		r := f.do(c.request(g, "tools/call", "work", `"name":"work","arguments":{}`))
		switch {
		case c.strict == [2]int{400, -32020} && c.lenient == [2]int{}:
			if r.status != 400 || r.code() != -32020 {
				t.Errorf("%s: got %v, want 400 -32020", name, r)
			}
		case r.status != 200:
			t.Errorf("%s: got %v, want what the upstream says", name, r)
		}
	}
}

// TestLegacyRubbishIsRefused: a version header that names no revision, of what is berth's
// to answer (2025-11-25, transports, "Protocol Version Header").
func TestLegacyRubbishIsRefused(t *testing.T) {
	f := newCoreRig(t, rigOptions{}, nil)
	session := f.initialize()
	id, call := f.made(session)
	call.ends(`"result":{}`)
	for version, want := range map[string]int{
		"": 200, "2025-11-25": 200, "2025-06-18": 200, "2025-03-26": 200, "2024-11-05": 200,
		"2025-01-01": 400, "2026-07-27": 400, "banana": 400, "1.0": 400, "2025-11-25, 2025-06-18": 400,
	} {
		header := []string{"Mcp-Session-Id", session}
		if version != "" {
			header = append(header, "Mcp-Protocol-Version", version)
		}
		for _, method := range []string{"tasks/get", "tasks/result"} {
			r := f.do(f.request(t.Context(), http.MethodPost, message(method, byID(id)), header...))
			if r.status != want || want == 400 && r.code() != -32600 {
				t.Errorf("version %q: %s: got %v, want %d", version, method, r, want)
			}
		}
		if want == 400 {
			r := f.do(f.request(t.Context(), http.MethodPost, message("tools/call", work), header...))
			if r.status != 400 {
				t.Errorf("version %q: tools/call: got %v, want 400", version, r)
			}
		}
	}
	for name, value := range map[string]string{"Content-Type": "text/plain", "Accept": "text/html"} {
		want := map[string]int{"Content-Type": 415, "Accept": 406}[name]
		if r := f.do(f.request(t.Context(), http.MethodPost, message("tasks/get", byID(id)), append(legacyHeader(session), name, value)...)); r.status != want {
			t.Errorf("%s: %s: got %v, want %d", name, value, r, want)
		}
	}
}

// TestMissingHeadersAreCounted: with "lenient", by name.
func TestMissingHeadersAreCounted(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	f := newServing(t, true, reader)
	id := f.made()
	for range 2 {
		f.do(flaws["no Mcp-Name"].request(f, "tasks/get", id, byID(id)))
	}
	f.do(flaws["no Mcp-Method"].request(f, "tasks/get", id, byID(id)))
	for header, want := range map[string]int64{"Mcp-Name": 2, "Mcp-Method": 1, "Mcp-Protocol-Version": 0} {
		if got := sumOf(t, reader, "berth.headers.missing", "header", header); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: counted %v, want %d", header, got, want)
		}
	}
}
