package mcp

import (
	"strings"
	"testing"

	"berth/internal/wire"
)

// header makes headers of "name", "value" pairs, as a server would read them.
func header(pairs ...string) *wire.Header {
	h := new(wire.Header)
	for i := 0; i < len(pairs); i += 2 {
		h.Add(wire.CanonicalName(pairs[i]), pairs[i+1])
	}
	return h
}

const (
	modern = versionModern
	legacy = "2025-11-25"
	meta   = `"_meta":{"` + MetaVersion + `":"` + modern + `"}`
)

func classify(t *testing.T, body string, h *wire.Header) (*Message, *Error) {
	t.Helper()
	msg := new(Message)
	if _, refusal := msg.Peek([]byte(body), testBatch); refusal != nil {
		t.Fatalf("Peek(%.200s) refused: %v", body, refusal)
	}
	return msg, Classify(msg, h)
}

func TestClassifyDecidesTheEra(t *testing.T) {
	versioned := func(v string) string { return request("ping", `"_meta":{"`+MetaVersion+`":"`+v+`"}`) }
	plain := request("ping", "")
	for name, tc := range map[string]struct {
		body    string
		headers *wire.Header
		want    Era
		version string
	}{
		"nothing":                              {plain, nil, EraLegacy, ""},
		"routing headers alone":                {plain, header("Mcp-Method", "x", "Mcp-Name", "y"), EraLegacy, ""},
		"an old header":                        {plain, header("MCP-Protocol-Version", legacy), EraLegacy, legacy},
		"an old header and routing headers":    {plain, header("MCP-Protocol-Version", "2025-06-18", "Mcp-Method", "x"), EraLegacy, "2025-06-18"},
		"a modern header":                      {plain, header("MCP-Protocol-Version", modern), EraModern, modern},
		"a modern _meta":                       {versioned(modern), nil, EraModern, modern},
		"both":                                 {versioned(modern), header("MCP-Protocol-Version", " "+modern+"\t"), EraModern, modern},
		"a revision to come":                   {plain, header("MCP-Protocol-Version", "2031-01-01"), EraModern, "2031-01-01"},
		"a revision to come in _meta":          {versioned("2031-01-01"), nil, EraModern, "2031-01-01"},
		"an old revision in _meta":             {versioned(legacy), nil, EraLegacy, legacy},
		"an old revision in both":              {versioned(legacy), header("MCP-Protocol-Version", legacy, "Mcp-Name", "y"), EraLegacy, legacy},
		"a draft's name":                       {plain, header("MCP-Protocol-Version", "DRAFT-2026-v1"), EraLegacy, "DRAFT-2026-v1"},
		"a draft's name and a method":          {plain, header("MCP-Protocol-Version", "DRAFT-2026-v1", "mcp-method", "ping"), EraModern, "DRAFT-2026-v1"},
		"a draft's name in _meta":              {versioned("DRAFT-2026-v1"), nil, EraModern, "DRAFT-2026-v1"},
		"nearly a revision":                    {plain, header("MCP-Protocol-Version", "2026-7-28"), EraLegacy, "2026-7-28"},
		"a date and more":                      {plain, header("MCP-Protocol-Version", "2026-07-28-rc"), EraLegacy, "2026-07-28-rc"},
		"a version in _meta that is no text":   {request("ping", `"_meta":{"`+MetaVersion+`":5}`), nil, EraModern, ""},
		"the same header twice":                {plain, header("MCP-Protocol-Version", modern, "Mcp-Protocol-Version", modern+" "), EraModern, modern},
		"a response under an old header":       {`{"jsonrpc":"2.0","id":1,"result":{}}`, header("MCP-Protocol-Version", legacy), EraLegacy, legacy},
		"a notification under a modern header": {`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, header("MCP-Protocol-Version", modern), EraModern, modern},
	} {
		t.Run(name, func(t *testing.T) {
			msg, refusal := classify(t, tc.body, tc.headers)
			if refusal != nil {
				t.Fatal(refusal)
			}
			if c := msg.Calls[0]; c.Era != tc.want || c.Version != tc.version {
				t.Errorf("got %v %q, want %v %q", c.Era, c.Version, tc.want, tc.version)
			}
		})
	}
}

func TestIsModern(t *testing.T) {
	for version, want := range map[string]bool{
		"": false, "2024-11-05": false, "2025-11-25": false, "2026-07-27": false,
		"2026-07-28": true, "2026-07-29": true, "2026-10-01": true, "9999-99-99": true,
		"2026-7-28": false, "2026-07-28 ": false, "2026-07-28-draft": false, "2026/07/28": false,
		"DRAFT-2026": false, "20260728": false, "2026-07-2a": false, "２０２６-07-28": false, "-026-07-28": false,
	} {
		if got := IsModern(version); got != want {
			t.Errorf("IsModern(%q) = %v, want %v", version, got, want)
		}
	}
}

func TestHeadersAreHeldAgainstTheBody(t *testing.T) {
	get := func(params string) string { return request("tasks/get", params+","+meta) }
	tool := request("tools/call", `"name":"greet",`+meta)
	version := func(pairs ...string) *wire.Header {
		return header(append([]string{"MCP-Protocol-Version", modern}, pairs...)...)
	}
	for name, tc := range map[string]struct {
		body    string
		headers *wire.Header
		code    int // 0: passes
	}{
		"all in order":                     {tool, version("Mcp-Method", "tools/call", "Mcp-Name", "greet"), 0},
		"no headers":                       {tool, nil, 0},
		"no method":                        {tool, version("Mcp-Name", "greet"), 0},
		"no name":                          {tool, version("Mcp-Method", "tools/call"), 0},
		"no name of a task":                {get(`"taskId":"A"`), version("Mcp-Method", "tasks/get"), 0},
		"no version":                       {tool, header("Mcp-Method", "tools/call", "Mcp-Name", "greet"), 0},
		"mixed case of header names":       {tool, version("mCP-metHod", "tools/call", "MCP-NAME", "greet"), 0},
		"blanks around the values":         {tool, version("Mcp-Method", "\t tools/call ", "Mcp-Name", "  greet\t"), 0},
		"another method":                   {tool, version("Mcp-Method", "tools/list"), CodeHeaderMismatch},
		"the method in capitals":           {tool, version("Mcp-Method", "TOOLS/CALL", "Mcp-Name", "greet"), CodeHeaderMismatch},
		"an empty method":                  {tool, version("Mcp-Method", ""), CodeHeaderMismatch},
		"two methods":                      {tool, version("Mcp-Method", "tools/call", "Mcp-Method", "tools/list"), CodeHeaderMismatch},
		"two methods in one line":          {tool, version("Mcp-Method", "tools/call, tools/list"), CodeHeaderMismatch},
		"the same method twice":            {tool, version("Mcp-Method", "tools/call", "Mcp-Method", " tools/call"), 0},
		"another method of a notification": {`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, version("Mcp-Method", "tools/call"), CodeHeaderMismatch},
		"a tool's name on a bare method":   {request("tools/list", meta), version("Mcp-Name", "greet"), 0},

		"the name in capitals":     {tool, version("Mcp-Name", "GREET"), CodeHeaderMismatch},
		"an empty name":            {tool, version("Mcp-Name", ""), CodeHeaderMismatch},
		"two names":                {tool, version("Mcp-Name", "greet", "Mcp-Name", "slow"), CodeHeaderMismatch},
		"another tool":             {tool, version("Mcp-Name", "slow"), CodeHeaderMismatch},
		"a tool without a name":    {request("tools/call", meta), version("Mcp-Name", "greet"), CodeHeaderMismatch},
		"a tool without params":    {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`, version("Mcp-Name", "greet"), CodeHeaderMismatch},
		"neither has a name":       {request("tools/call", meta), version("Mcp-Name", ""), 0},
		"a name that is no string": {request("tools/call", `"name":5`), version("Mcp-Name", "5"), CodeHeaderMismatch},
		"another prompt":           {request("prompts/get", `"name":"a"`), version("Mcp-Name", "b"), CodeHeaderMismatch},
		"another resource":         {request("resources/read", `"uri":"file:///a"`), version("Mcp-Name", "file:///b"), CodeHeaderMismatch},

		"another task":                 {get(`"taskId":"B"`), version("Mcp-Method", "tasks/get", "Mcp-Name", "A"), CodeHeaderMismatch},
		"a bogus name of a task":       {request("tasks/cancel", `"taskId":"A"`), version("Mcp-Name", "bogus"), CodeHeaderMismatch},
		"another task, a new method":   {request("tasks/rewind", `"taskId":"A"`), version("Mcp-Name", "B"), CodeHeaderMismatch},
		"a task in the header only":    {get(`"x":1`), version("Mcp-Name", "A"), CodeHeaderMismatch},
		"a name of what is to come":    {request("tasks/create", `"tool":"greet"`), version("Mcp-Name", "greet"), 0},
		"a name on a list of tasks":    {request("tasks/list", ""), version("Mcp-Name", "x"), 0},
		"an id that is no string":      {get(`"taskId":5`), version("Mcp-Name", "5"), 0}, // CheckTaskID's to refuse
		"base64":                       {get(`"taskId":"tâche 1"`), version("Mcp-Name", EncodeName("tâche 1")), 0},
		"base64 of plain text":         {get(`"taskId":"A"`), version("Mcp-Name", "=?base64?QQ==?="), 0},
		"base64 in blanks":             {get(`"taskId":"A"`), version("Mcp-Name", " =?base64?QQ==?=\t"), 0},
		"base64 of another task":       {get(`"taskId":"B"`), version("Mcp-Name", "=?base64?QQ==?="), CodeHeaderMismatch},
		"base64 without padding":       {get(`"taskId":"A"`), version("Mcp-Name", "=?base64?QQ?="), CodeHeaderMismatch},
		"base64 with bits left over":   {get(`"taskId":"A"`), version("Mcp-Name", "=?base64?QR==?="), CodeHeaderMismatch},
		"base64 of the URL alphabet":   {get(`"taskId":"???"`), version("Mcp-Name", "=?base64?Pz8_?="), CodeHeaderMismatch},
		"base64, broken, without body": {request("tasks/create", ""), version("Mcp-Name", "=?base64?!?="), CodeHeaderMismatch},
		"BASE64 is meant literally":    {get(`"taskId":"A"`), version("Mcp-Name", "=?BASE64?QQ==?="), CodeHeaderMismatch},
		"BASE64 as an id":              {get(`"taskId":"=?BASE64?QQ==?="`), version("Mcp-Name", "=?BASE64?QQ==?="), 0},
		"no suffix as an id":           {get(`"taskId":"=?base64?QQ=="`), version("Mcp-Name", "=?base64?QQ=="), 0},

		"an old header, a modern _meta":       {tool, header("MCP-Protocol-Version", legacy), CodeHeaderMismatch},
		"two modern versions":                 {tool, header("MCP-Protocol-Version", "2027-01-01"), CodeHeaderMismatch},
		"a modern header, an old _meta":       {request("ping", `"_meta":{"`+MetaVersion+`":"2025-06-18"}`), version(), CodeHeaderMismatch},
		"two old versions":                    {request("ping", `"_meta":{"`+MetaVersion+`":"2025-06-18"}`), header("MCP-Protocol-Version", legacy), CodeHeaderMismatch},
		"a version in _meta that is no text":  {request("ping", `"_meta":{"`+MetaVersion+`":5}`), version(), CodeHeaderMismatch},
		"an empty version in _meta":           {request("ping", `"_meta":{"`+MetaVersion+`":""}`), version(), CodeHeaderMismatch},
		"two version headers":                 {request("ping", ""), version("MCP-Protocol-Version", legacy), CodeHeaderMismatch},
		"an old version ignores names":        {request("tasks/get", `"taskId":"B"`), header("MCP-Protocol-Version", legacy, "Mcp-Name", "A", "Mcp-Method", "x"), 0},
		"no version ignores names":            {request("tasks/get", `"taskId":"B"`), header("Mcp-Name", "A", "Mcp-Name", "C", "Mcp-Method", "x"), 0},
		"a modern response":                   {`{"jsonrpc":"2.0","id":1,"result":{}}`, version("Mcp-Method", "a", "Mcp-Method", "b"), CodeInvalidRequest},
		"a modern error response":             {`{"jsonrpc":"2.0","error":{}}`, version(), CodeInvalidRequest},
		"a legacy response":                   {`{"jsonrpc":"2.0","id":1,"result":{}}`, header("MCP-Protocol-Version", legacy), 0},
		"a notification about tasks":          {`{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"A"}}`, version(), 0},
		"a task call without an id, modern":   {`{"jsonrpc":"2.0","method":"tasks/get","params":{"taskId":"A"}}`, version("Mcp-Name", "B"), CodeInvalidRequest},
		"a task call without an id, legacy":   {`{"jsonrpc":"2.0","method":"tasks/cancel","params":{"taskId":"A"}}`, nil, CodeInvalidRequest},
		"tasks/list without an id":            {`{"jsonrpc":"2.0","method":"tasks/list"}`, nil, CodeInvalidRequest},
		"a method to come, without an id":     {`{"jsonrpc":"2.0","method":"tasks/rewind","params":{"taskId":"A"}}`, version(), CodeInvalidRequest},
		"a subscription without an id":        {`{"jsonrpc":"2.0","method":"subscriptions/listen","params":{"notifications":{"taskIds":["A"]}}}`, version(), CodeInvalidRequest},
		"a task call without an id, in batch": {`[` + request("ping", "") + `,{"jsonrpc":"2.0","method":"tasks/get"}]`, nil, CodeInvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			_, refusal := classify(t, tc.body, tc.headers)
			switch {
			case refusal == nil && tc.code != 0:
				t.Errorf("passes, want %d", tc.code)
			case refusal != nil && (refusal.Code != tc.code || refusal.Status != 400):
				t.Errorf("got %d %v, want %d", refusal.Status, refusal, tc.code)
			}
		})
	}
}

func TestBatchesBelongToOneRevision(t *testing.T) {
	ping, modernPing := request("ping", ""), request("ping", meta)
	for name, tc := range map[string]struct {
		body    string
		headers *wire.Header
		ok      bool
	}{
		"no version":                   {`[` + ping + `]`, nil, true},
		"2025-03-26":                   {`[` + ping + `,` + ping + `]`, header("MCP-Protocol-Version", versionBatches), true},
		"2024-11-05":                   {`[` + ping + `]`, header("MCP-Protocol-Version", "2024-11-05"), true},
		"2025-06-18":                   {`[` + ping + `]`, header("MCP-Protocol-Version", "2025-06-18"), false},
		"2025-11-25":                   {`[` + ping + `]`, header("MCP-Protocol-Version", legacy), false},
		"a draft":                      {`[` + ping + `]`, header("MCP-Protocol-Version", "draft"), false},
		"modern":                       {`[` + ping + `]`, header("MCP-Protocol-Version", modern), false},
		"modern, of different methods": {`[` + ping + `,` + request("tools/list", "") + `]`, header("MCP-Protocol-Version", modern, "Mcp-Method", "ping"), false},
		"modern by _meta":              {`[` + modernPing + `]`, nil, false},
		"modern in the second member":  {`[` + ping + `,` + modernPing + `]`, nil, false},
		"modern under an old header":   {`[` + ping + `,` + modernPing + `]`, header("MCP-Protocol-Version", versionBatches), false},
	} {
		t.Run(name, func(t *testing.T) {
			_, refusal := classify(t, tc.body, tc.headers)
			switch {
			case tc.ok && refusal != nil:
				t.Errorf("refused: %v", refusal)
			case !tc.ok && (refusal == nil || refusal.Status != 400 || refusal.Code != CodeInvalidRequest):
				t.Errorf("got %v, want 400 %d", refusal, CodeInvalidRequest)
			}
		})
	}
}

// An answer of berth's own never repeats what a client sent.
func TestRefusalsRepeatNothing(t *testing.T) {
	const secret = "s3cret"
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"` + secret + `":1,"` + secret + `":2,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":{"` + secret + `":1}}`,
		`{"` + secret + `"`,
	} {
		_, _, refusal := peek([]byte(body), testBatch)
		if refusal == nil {
			t.Fatalf("%s is accepted", body)
		}
		if strings.Contains(string(refusal.Body(nil)), secret) {
			t.Errorf("%s is answered %s", body, refusal.Body(nil))
		}
	}
	_, refusal := classify(t, request("tools/call", `"name":"`+secret+`"`), header("MCP-Protocol-Version", modern, "Mcp-Name", secret+"2"))
	if refusal == nil || strings.Contains(string(refusal.Body(nil)), secret) {
		t.Errorf("got %v", refusal)
	}
}

// A method that is a request's is none of a notification, alone or in a batch; a notification passes, of whatever name.
func TestRequestsNeedAnID(t *testing.T) {
	without := func(method string) string { return `{"jsonrpc":"2.0","method":"` + method + `","params":{}}` }
	batches := header("MCP-Protocol-Version", "2025-03-26")
	for _, method := range []string{
		MethodInitialize, MethodPing, MethodCallTool, MethodListTools, MethodGetPrompt, MethodReadResource, MethodSubscribe, MethodSetLevel,
		MethodDiscover, MethodListen, MethodGetTask, "tasks/to_come",
	} {
		for name, h := range map[string]*wire.Header{"no version": nil, legacy: header("MCP-Protocol-Version", legacy), modern: header("MCP-Protocol-Version", modern)} {
			if _, refusal := classify(t, without(method), h); refusal == nil || refusal.Code != CodeInvalidRequest {
				t.Errorf("%s, %s: got %v, want %d", method, name, refusal, CodeInvalidRequest)
			}
		}
		if _, refusal := classify(t, "["+request("ping", "")+","+without(method)+"]", batches); refusal == nil || refusal.Code != CodeInvalidRequest {
			t.Errorf("%s, in a batch: got %v, want %d", method, refusal, CodeInvalidRequest)
		}
	}
	for _, method := range []string{MethodInitialized, MethodCancelled, MethodProgress, "notifications/to_come", "notifications/tools/call", "vendor/event", "initialized"} {
		for name, h := range map[string]*wire.Header{legacy: header("MCP-Protocol-Version", legacy), modern: header("MCP-Protocol-Version", modern)} {
			if _, refusal := classify(t, without(method), h); refusal != nil {
				t.Errorf("%s, %s: refused: %v", method, name, refusal)
			}
		}
		if _, refusal := classify(t, "["+request("ping", "")+","+without(method)+"]", batches); refusal != nil {
			t.Errorf("%s, in a batch: refused: %v", method, refusal)
		}
	}
}
