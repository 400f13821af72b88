package mcp

import (
	"fmt"
	"strings"
	"testing"

	"berth/internal/jsonobject"
	"berth/internal/mcp/listen"
)

const testBatch = 100

// peek returns the message that Peek reads in body, with its strings, and the id to answer to.
func peek(body []byte, maxBatch int) (*Message, []byte, *Error) {
	m := new(Message)
	id, refusal := m.Peek(body, maxBatch)
	for i := range m.Calls {
		m.Calls[i].decode("", "")
	}
	return m, id, refusal
}

// call returns what Peek makes of one valid message.
func call(t *testing.T, body string) *Call {
	t.Helper()
	msg, _, refusal := peek([]byte(body), testBatch)
	if refusal != nil {
		t.Fatalf("Peek(%.200s) refused: %v", body, refusal)
	}
	return &msg.Calls[0]
}

// request is a message with the given members of params.
func request(method, params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `}}`
}

func TestPeekRefuses(t *testing.T) {
	const deep = 100_000
	surplus := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"x%d":0`, i)
		}
		return b.String()
	}
	for name, tc := range map[string]struct {
		body   string
		code   int
		reason string
		id     string // of the answer
	}{
		"an empty body":                 {"", CodeParse, "", ""},
		"blanks":                        {" \r\n\t", CodeParse, "", ""},
		"a truncated object":            {`{"jsonrpc":"2.0","id":1,"method":"ping"`, CodeParse, "", ""},
		"a truncated string":            {`{"jsonrpc":"2.0","id":1,"method":"pi`, CodeParse, "", ""},
		"a truncated batch":             {`[{"jsonrpc":"2.0","id":1,"method":"ping"}`, CodeParse, "", ""},
		"an opened batch":               {`[`, CodeParse, "", ""},
		"trailing bytes":                {`{"jsonrpc":"2.0","id":1,"method":"ping"}x`, CodeParse, "", ""},
		"a second message":              {`{"jsonrpc":"2.0","id":1,"method":"ping"}{}`, CodeParse, "", ""},
		"bytes after a batch":           {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]]`, CodeParse, "", ""},
		"invalid UTF-8 in a value":      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\xff\"}", CodeParse, "", ""},
		"invalid UTF-8 in arguments":    {request("tools/call", "\"name\":\"a\",\"arguments\":{\"x\":[\"\xff\"]}"), CodeParse, "", ""},
		"invalid UTF-8 in a name":       {request("tools/call", "\"name\":\"a\",\"arguments\":{\"\xff\":1}"), CodeParse, "", ""},
		"invalid UTF-8, then method":    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"params\":{\"x\":\"\xff\"},\"method\":\"ping\"}", CodeParse, "", ""},
		"invalid UTF-8 in a batch":      {"[" + request("ping", "\"x\":\"\xff\"") + "]", CodeParse, "", ""},
		"invalid UTF-8 in the last":     {"[" + request("ping", "") + "," + request("ping", "\"x\":\"\xff\"") + "]", CodeParse, "", ""},
		"invalid UTF-8, and no id":      {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\",\"x\":\"\xff\"}", CodeParse, "", ""},
		"invalid UTF-8 behind too many": {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"" + surplus(jsonobject.MaxMembers-2) + ",\"x\":\"\xff\"}", CodeParse, "", ""},
		"invalid UTF-8 behind a batch":  {"[" + strings.Repeat(request("ping", "")+",", testBatch) + request("ping", "\"x\":\"\xff\"") + "]", CodeParse, "", ""},
		"invalid UTF-8 and no JSON":     {"\xff", CodeParse, "", ""},
		"an overlong encoding":          {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc0\xafping\"}", CodeParse, "", ""},
		"a surrogate in UTF-8":          {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xed\xa0\x80\"}", CodeParse, "", ""},
		"a byte order mark":             {"\ufeff" + request("ping", ""), CodeParse, "", ""},
		"a no-break space in front":     {"\u00a0" + request("ping", ""), CodeParse, "", ""},
		"a raw control character":       {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\x00ng\"}", CodeParse, "", ""},
		"a comment":                     {`{"jsonrpc":"2.0",/**/"id":1,"method":"ping"}`, CodeParse, "", ""},
		"a comma too many":              {`{"jsonrpc":"2.0","id":1,"method":"ping",}`, CodeParse, "", ""},
		"a name that is no string":      {`{jsonrpc:"2.0","id":1,"method":"ping"}`, CodeParse, "", ""},
		"a number that is none":         {`{"jsonrpc":"2.0","id":01,"method":"ping"}`, CodeParse, "", ""},
		"deep arrays":                   {strings.Repeat("[", deep) + strings.Repeat("]", deep), CodeParse, "", ""},
		"deep params":                   {request("ping", `"a":`+strings.Repeat("[", deep)+strings.Repeat("]", deep)), CodeParse, "", ""},
		"deep objects":                  {request("ping", `"a":`+strings.Repeat(`{"a":`, deep)+"1"+strings.Repeat("}", deep)), CodeParse, "", ""},
		"depth without end":             {strings.Repeat(`{"a":`, deep), CodeParse, "", ""},
		"null":                          {`null`, CodeInvalidRequest, "", ""},
		"a string":                      {`"ping"`, CodeInvalidRequest, "", ""},
		"a number":                      {` 42 `, CodeInvalidRequest, "", ""},
		"an empty object":               {`{}`, CodeInvalidRequest, "", ""},
		"an empty batch":                {`[]`, CodeInvalidRequest, "empty_batch", ""},
		"a batch of no messages":        {`[1]`, CodeInvalidRequest, "", ""},
		"a batch in a batch":            {`[[` + request("ping", "") + `]]`, CodeInvalidRequest, "", ""},
		"a bad message in a batch":      {`[` + request("ping", "") + `,{"jsonrpc":"2.0","id":1}]`, CodeInvalidRequest, "", ""},
		"no jsonrpc":                    {`{"id":1,"method":"ping"}`, CodeInvalidRequest, "", "1"},
		"another jsonrpc":               {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, CodeInvalidRequest, "", "1"},
		"jsonrpc as a number":           {`{"jsonrpc":2.0,"id":1,"method":"ping"}`, CodeInvalidRequest, "", "1"},
		"neither method nor result":     {`{"jsonrpc":"2.0","id":"a"}`, CodeInvalidRequest, "", `"a"`},
		"method and result":             {`{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, CodeInvalidRequest, "", "1"},
		"method and error":              {`{"jsonrpc":"2.0","id":1,"method":"ping","error":{}}`, CodeInvalidRequest, "", "1"},
		"result and error":              {`{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, CodeInvalidRequest, "", "1"},
		"a result without an id":        {`{"jsonrpc":"2.0","result":{}}`, CodeInvalidRequest, "", ""},
		"a result with a null id":       {`{"jsonrpc":"2.0","id":null,"result":{}}`, CodeInvalidRequest, "", ""},
		"an empty method":               {`{"jsonrpc":"2.0","id":1,"method":""}`, CodeInvalidRequest, "", "1"},
		"a method that is no string":    {`{"jsonrpc":"2.0","id":1,"method":["ping"]}`, CodeInvalidRequest, "", "1"},
		"a null method":                 {`{"jsonrpc":"2.0","id":1,"method":null}`, CodeInvalidRequest, "", "1"},
		"a null id":                     {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, CodeInvalidRequest, "", ""},
		"a boolean id":                  {`{"jsonrpc":"2.0","id":true,"method":"ping"}`, CodeInvalidRequest, "", ""},
		"an array as id":                {`{"jsonrpc":"2.0","id":[1],"method":"ping"}`, CodeInvalidRequest, "", ""},
		"an object as id":               {`{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, CodeInvalidRequest, "", ""},

		"method twice":                  {`{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/call"}`, CodeInvalidRequest, "duplicate_key", "7"},
		"method twice, then the id":     {`{"jsonrpc":"2.0","method":"ping","method":"tools/call","id":7}`, CodeInvalidRequest, "duplicate_key", "7"},
		"method twice and no JSON":      {`{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/call"`, CodeParse, "", ""},
		"method twice, once escaped":    {`{"jsonrpc":"2.0","id":7,"method":"ping","\u006dethod":"tools/call"}`, CodeInvalidRequest, "duplicate_key", "7"},
		"id twice":                      {`{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}`, CodeInvalidRequest, "duplicate_key", ""},
		"params twice":                  {`{"jsonrpc":"2.0","id":7,"method":"tasks/get","params":{"taskId":"a"},"params":{"taskId":"b"}}`, CodeInvalidRequest, "duplicate_key", "7"},
		"an unknown member twice":       {`{"jsonrpc":"2.0","id":7,"method":"ping","x":1,"x":1}`, CodeInvalidRequest, "duplicate_key", "7"},
		"taskId twice":                  {request("tasks/get", `"taskId":"a","taskId":"b"`), CodeInvalidRequest, "duplicate_key", "1"},
		"taskId twice, then the method": {`{"jsonrpc":"2.0","id":1,"params":{"taskId":"a","taskId":"b"},"method":"tasks/get"}`, CodeInvalidRequest, "duplicate_key", "1"},
		"taskId twice and no JSON":      {`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"a","taskId":"b"},}`, CodeParse, "", ""},
		"taskId twice, then method":     {`{"jsonrpc":"2.0","id":7,"method":"tasks/get","params":{"taskId":"a","taskId":"b"},"method":"ping"}`, CodeInvalidRequest, "duplicate_key", "7"},
		"taskId twice, once escaped":    {request("tasks/get", `"taskId":"a","task\u0049d":"b"`), CodeInvalidRequest, "duplicate_key", "1"},
		"taskId twice, the same":        {request("tasks/get", `"taskId":"a","taskId":"a"`), CodeInvalidRequest, "duplicate_key", "1"},
		"name twice":                    {request("tools/call", `"name":"a","name":"b"`), CodeInvalidRequest, "duplicate_key", "1"},
		"uri twice":                     {request("resources/read", `"uri":"a","uri":"b"`), CodeInvalidRequest, "duplicate_key", "1"},
		"_meta twice":                   {request("tools/call", `"_meta":{},"_meta":{}`), CodeInvalidRequest, "duplicate_key", "1"},
		"the version in _meta twice":    {request("ping", `"_meta":{"`+MetaVersion+`":"2026-07-28","`+MetaVersion+`":"2025-11-25"}`), CodeInvalidRequest, "duplicate_key", "1"},
		"extensions twice":              {request("ping", `"_meta":{"`+MetaCapabilities+`":{"extensions":{},"extensions":{}}}`), CodeInvalidRequest, "duplicate_key", "1"},
		"the extension twice":           {request("ping", `"_meta":{"`+MetaCapabilities+`":{"extensions":{"`+TasksExtension+`":{},"`+TasksExtension+`":1}}}`), CodeInvalidRequest, "duplicate_key", "1"},
		"notifications twice":           {request(MethodListen, `"notifications":{},"notifications":{}`), CodeInvalidRequest, "duplicate_key", "1"},
		"taskIds twice":                 {request(MethodListen, `"notifications":{"taskIds":[],"taskIds":["a"]}`), CodeInvalidRequest, "duplicate_key", "1"},
		"two names of lone surrogate":   {request("ping", `"\ud800":1,"\udfff":1`), CodeInvalidRequest, "duplicate_key", "1"},
		"a duplicate in a batch":        {`[` + request("tasks/get", `"taskId":"a","taskId":"b"`) + `]`, CodeInvalidRequest, "duplicate_key", "1"},

		"METHOD":                     {`{"jsonrpc":"2.0","id":1,"METHOD":"ping"}`, CodeInvalidRequest, "key_case", "1"},
		"method and Method":          {`{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}`, CodeInvalidRequest, "key_case", "1"},
		"Method, escaped":            {`{"jsonrpc":"2.0","id":1,"method":"ping","\u004dethod":"tools/call"}`, CodeInvalidRequest, "key_case", "1"},
		"Id":                         {`{"jsonrpc":"2.0","id":1,"Id":2,"method":"ping"}`, CodeInvalidRequest, "key_case", ""},
		"JsonRpc":                    {`{"jsonrpc":"2.0","JsonRpc":"2.0","id":1,"method":"ping"}`, CodeInvalidRequest, "key_case", "1"},
		"param\u017f":                {`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{},"param` + "\u017f" + `":{"taskId":"b"}}`, CodeInvalidRequest, "key_case", "1"},
		"re\u017fult":                {`{"jsonrpc":"2.0","id":1,"method":"ping","re` + "\u017f" + `ult":{}}`, CodeInvalidRequest, "key_case", "1"},
		"ERROR":                      {`{"jsonrpc":"2.0","id":1,"method":"ping","ERROR":{}}`, CodeInvalidRequest, "key_case", "1"},
		"taskid":                     {request("tasks/get", `"taskid":"b"`), CodeInvalidRequest, "key_case", "1"},
		"taskId and TaskID":          {request("tasks/get", `"taskId":"a","TaskID":"b"`), CodeInvalidRequest, "key_case", "1"},
		"ta\u017fkId":                {request("tasks/cancel", `"taskId":"a","ta`+"\u017f"+`kId":"b"`), CodeInvalidRequest, "key_case", "1"},
		"tas\u212aId":                {request("tasks/update", `"taskId":"a","tas`+"\u212a"+`Id":"b"`), CodeInvalidRequest, "key_case", "1"},
		"tas\u212aId, escaped":       {request("tasks/update", `"taskId":"a","tas\u212aId":"b"`), CodeInvalidRequest, "key_case", "1"},
		"Name of a tool":             {request("tools/call", `"name":"a","Name":"b"`), CodeInvalidRequest, "key_case", "1"},
		"NAME of a prompt":           {request("prompts/get", `"name":"a","NAME":"b"`), CodeInvalidRequest, "key_case", "1"},
		"URI of a resource":          {request("resources/read", `"uri":"a","URI":"b"`), CodeInvalidRequest, "key_case", "1"},
		"_Meta":                      {request("tools/call", `"name":"a","_Meta":{}`), CodeInvalidRequest, "key_case", "1"},
		"the version in capitals":    {request("ping", `"_meta":{"io.modelcontextprotocol/ProtocolVersion":"2026-07-28"}`), CodeInvalidRequest, "key_case", "1"},
		"the version with \u017f":    {request("ping", `"_meta":{"io.modelcontextprotocol/protocolVer`+"\u017f"+`ion":"2026-07-28"}`), CodeInvalidRequest, "key_case", "1"},
		"capabilities in capitals":   {request("ping", `"_meta":{"io.modelcontextprotocol/CLIENTCAPABILITIES":{}}`), CodeInvalidRequest, "key_case", "1"},
		"Notifications":              {request(MethodListen, `"notifications":{"taskIds":["mine"]},"Notifications":{"taskIds":["yours"]}`), CodeInvalidRequest, "key_case", "1"},
		"TaskIds":                    {request(MethodListen, `"notifications":{"taskIds":["mine"],"TaskIds":["yours"]}`), CodeInvalidRequest, "key_case", "1"},
		"taskIds with a null":        {request(MethodListen, `"notifications":{"taskIds":["mine",null]}`), CodeInvalidRequest, "", "1"},
		"taskIds that are one name":  {request(MethodListen, `"notifications":{"taskIds":"yours"}`), CodeInvalidRequest, "", "1"},
		"taskIds that are an object": {request(MethodListen, `"notifications":{"taskIds":{"yours":true}}`), CodeInvalidRequest, "", "1"},
		"taskIds that are not names": {request(MethodListen, `"notifications":{"taskIds":["mine",2]}`), CodeInvalidRequest, "", "1"},

		"too many members":              {`{"jsonrpc":"2.0","id":1,"method":"ping"` + surplus(jsonobject.MaxMembers-2) + `}`, CodeInvalidRequest, "too_many_members", "1"},
		"too many members, and no JSON": {request("ping", `"a":0`+surplus(jsonobject.MaxMembers)+`,`), CodeParse, "", ""},
		"too many members of params":    {request("ping", `"a":0`+surplus(100_000)), CodeInvalidRequest, "too_many_members", "1"},
		"too many messages":             {`[` + strings.Repeat(request("ping", "")+",", testBatch) + request("ping", "") + `]`, CodeInvalidRequest, "batch_too_large", ""},
	} {
		t.Run(name, func(t *testing.T) {
			msg, id, refusal := peek([]byte(tc.body), testBatch)
			if refusal == nil {
				t.Fatalf("accepted as %+v", msg)
			}
			if refusal.Status != 400 || refusal.Code != tc.code || refusal.Reason != tc.reason {
				t.Errorf("got %d %v, want 400 %d (%s)", refusal.Status, refusal, tc.code, tc.reason)
			}
			if string(id) != tc.id {
				t.Errorf("the answer's id is %q, want %q", id, tc.id)
			}
			if len(msg.Calls) != 0 {
				t.Errorf("refused, yet hands out %d calls", len(msg.Calls))
			}
		})
	}
}

func TestPeekAccepts(t *testing.T) {
	var members strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&members, `,"x%d":0`, i)
	}
	for name, body := range map[string]string{
		"no params":                       `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		"null params":                     `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":null}`,
		"params as an array":              `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":["a"]}`,
		"params as a string":              `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":"a"}`,
		"blanks around":                   "\r\n\t " + request("ping", "") + " \n",
		"a batch in blanks":               " [ " + request("ping", "") + " ] \n",
		"the largest batch":               `[` + strings.Repeat(request("ping", "")+",", testBatch-1) + request("ping", "") + `]`,
		"unknown members":                 `{"jsonrpc":"2.0","id":1,"method":"ping","traceId":1,"x":{"y":[]}}`,
		"unknown methods":                 request("tasks/rewind", `"taskId":"a","steps":2`),
		"an unknown method's TaskID":      request("vendor/do", `"TaskID":"a","Name":"b","URI":"c"`),
		"duplicates below the envelope":   request("tools/call", `"name":"a","arguments":{"x":1,"x":2,"X":3}`),
		"many members of arguments":       request("tools/call", `"name":"a","arguments":{"x":0`+members.String()+`}`),
		"deep arguments":                  request("tools/call", `"name":"a","arguments":`+strings.Repeat("[", 9000)+strings.Repeat("]", 9000)),
		"_meta that is no object":         request("tools/call", `"name":"a","_meta":5`),
		"capabilities that are none":      request("tools/call", `"_meta":{"`+MetaCapabilities+`":[]}`),
		"extensions that are none":        request("tools/call", `"_meta":{"`+MetaCapabilities+`":{"extensions":null}}`),
		"a filter that is none":           request(MethodListen, `"notifications":null`),
		"taskIds that are none":           request(MethodListen, `"notifications":{"taskIds":null}`),
		"params of every kind":            request("tasks/get", `"taskId":"a","task":{"ttl":1},"inputResponses":[null,true]`),
		"a member without a name":         request("ping", `"":"x"`),
		"a lone surrogate in an argument": request("tools/call", `"name":"a","arguments":{"x":"\ud800"}`),
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, refusal := peek([]byte(body), testBatch); refusal != nil {
				t.Errorf("refused: %v", refusal)
			}
		})
	}
}

// TestPeekCopiesNothing: the usual messages are read without an allocation. The race detector
// has pools forget, so that there is nothing to count.
func TestPeekCopiesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("pools forget under the race detector")
	}
	var m Message
	for name, step := range map[string]func() bool{
		"call":   func() bool { _, refusal := m.Peek(usualCall, testBatch); return refusal == nil },
		"poll":   func() bool { _, refusal := m.Peek(usualPoll, testBatch); return refusal == nil },
		"result": func() bool { a, err := PeekAnswer(usualResult, false); return err == nil && a.HasResult },
		"task": func() bool {
			var a Answer
			err := a.PeekTo(usualTaskID, usualTask, false)
			return err == nil && a.Task.ID == usualTaskID
		},
	} {
		if n := testing.AllocsPerRun(100, func() {
			if !step() {
				t.Error("refused")
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestPeekTellsTheKindOfAMessage(t *testing.T) {
	for body, want := range map[string]Kind{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:               KindRequest,
		`{"jsonrpc":"2.0","id":"","method":"ping"}`:              KindRequest,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`: KindNotification,
		`{"jsonrpc":"2.0","id":1,"result":{}}`:                   KindResponse,
		`{"jsonrpc":"2.0","id":1,"result":null}`:                 KindResponse,
		`{"jsonrpc":"2.0","id":1,"error":{"code":1}}`:            KindResponse,
		`{"jsonrpc":"2.0","id":null,"error":{"code":1}}`:         KindResponse,
		`{"jsonrpc":"2.0","error":{"code":1}}`:                   KindResponse,
	} {
		if c := call(t, body); c.Kind != want {
			t.Errorf("%s: got %v, want %v", body, c.Kind, want)
		}
	}
}

// An id goes back as it came: a client may compare the text.
func TestPeekKeepsTheIDVerbatim(t *testing.T) {
	for _, want := range []string{
		`0`, `-0`, `1.0`, `1.5`, `1E+2`, `9007199254740993`, `123456789012345678901234567890`,
		`-1e999`, `""`, `"a"`, `"\u0061\/"`, `"<&>"`, `"\ud800"`, `"` + strings.Repeat("x", 10_000) + `"`,
	} {
		c := call(t, `{"jsonrpc":"2.0","id": `+want+` ,"method":"ping"}`)
		if string(c.ID) != want {
			t.Errorf("got %s, want %s", c.ID, want)
		}
		if body := string(Response(c.ID, []byte(`{}`))); !strings.Contains(body, `"id":`+want+`,`) {
			t.Errorf("Response changed the id %s: %s", want, body)
		}
	}
}

func TestPeekReadsWhatRoutesACall(t *testing.T) {
	meta := `"_meta":{"` + MetaVersion + `":"2026-07-28","` + MetaCapabilities + `":{"extensions":{"` + TasksExtension + `":{}}},
		"traceparent":"00-p","tracestate":"s","baggage":"b","traceId":7}`
	for name, tc := range map[string]struct {
		body string
		want Call
	}{
		"a tool call": {
			request("tools/call", meta+`,"name":"gr\u0065et","requestState":"rs","arguments":{"taskId":"not this","name":"nor this"}`),
			Call{
				Method: "tools/call", Name: "greet", RequestState: "rs", metaVersion: "2026-07-28", DeclaresTasks: true,
				Trace: Trace{"00-p", "s"}, hasMetaVersion: true, hasCapabilities: true,
			},
		},
		"escaped names": {
			`{"\u006asonrpc":"2.0","\u0069d":1,"\u006dethod":"t\u0061sks\/get","p\u0061rams":{"\u0074askId":"a\u00e9"}}`,
			Call{Method: "tasks/get", TaskID: "aé", HasTaskID: true},
		},
		"params before the method": {
			`{"params":{"taskId":"a","_meta":{"progressToken":"p"}},"method":"tasks/get","id":1,"jsonrpc":"2.0"}`,
			Call{Method: "tasks/get", TaskID: "a", HasTaskID: true, ProgressToken: []byte(`"p"`)},
		},
		"a progress token that is none": {request("ping", `"_meta":{"progressToken":[1]}`), Call{Method: "ping"}},
		"a resource":                    {request("resources/read", `"uri":"file:///a","name":"no"`), Call{Method: "resources/read", Name: "file:///a"}},
		"a name of a wrong kind":        {request("tools/call", `"name":5`), Call{Method: "tools/call", badName: true}},
		"a list's cursor":               {request("tools/list", `"cursor":"c","name":"no"`), Call{Method: "tools/list", Cursor: "c"}},
		"a subscription": {
			request(MethodListen, `"notifications":{"taskIds":["a","b"],"toolsListChanged":true}`),
			Call{Method: MethodListen, Listen: listen.Filter{{Name: "taskIds", List: []string{"a", "b"}}, {Name: "toolsListChanged", Raw: []byte("true")}}},
		},
		"a task id of a wrong kind": {request("tasks/get", `"taskId":12`), Call{Method: "tasks/get", HasTaskID: true, badTaskID: true}},
		"a member without a name":   {request("ping", `"":"x"`), Call{Method: "ping"}},
		"the extension as true": {
			request("ping", `"_meta":{"`+MetaCapabilities+`":{"extensions":{"`+TasksExtension+`":true}}}`),
			Call{Method: "ping", hasCapabilities: true},
		},
		"a version of a wrong kind": {request("ping", `"_meta":{"`+MetaVersion+`":5}`), Call{Method: "ping", hasMetaVersion: true}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.want.ID = []byte("1")
			peeked := *call(t, tc.body)
			peeked.capabilities, peeked.raw, peeked.plain = nil, rawCall{}, plainRaw{} // TestDeclares looks at the former
			if got := fmt.Sprintf("%+v", peeked); got != fmt.Sprintf("%+v", tc.want) {
				t.Errorf("got  %s\nwant %+v", got, tc.want)
			}
		})
	}
}

func TestPeekKeepsTheOrderOfABatch(t *testing.T) {
	msg, id, refusal := peek([]byte(`[`+request("tasks/get", `"taskId":"a"`)+`,{"jsonrpc":"2.0","id":9,"result":{}},`+request("ping", "")+`]`), testBatch)
	if refusal != nil || id != nil || !msg.Batch {
		t.Fatalf("got %+v, id %s, %v", msg, id, refusal)
	}
	if len(msg.Calls) != 3 || msg.Calls[0].TaskID != "a" || msg.Calls[1].Kind != KindResponse || msg.Calls[2].Method != "ping" {
		t.Errorf("got %+v", msg.Calls)
	}
}

func TestTaskIDsThatNoServerGivesOutAreRefused(t *testing.T) {
	const limit = 256
	for name, tc := range map[string]struct {
		json string
		ok   bool
	}{
		"a UUID":               {`"786512e2-9e0d-44bd-8f29-789f320fe840"`, true},
		"the longest":          {`"` + strings.Repeat("a", limit) + `"`, true},
		"the longest, escaped": {`"` + strings.Repeat(`\u0061`, limit) + `"`, true},
		"letters and blanks":   {`"Aufgabe № 7"`, true},
		"an astral character":  {`"\ud83d\ude00"`, true},
		"a byte too long":      {`"` + strings.Repeat("a", limit+1) + `"`, false},
		"bytes, not letters":   {`"` + strings.Repeat("é", limit/2) + `a"`, false},
		"much too long":        {`"` + strings.Repeat("a", 10_000) + `"`, false},
		"empty":                {`""`, false},
		"a number":             {`12`, false},
		"null":                 {`null`, false},
		"true":                 {`true`, false},
		"a list":               {`["a"]`, false},
		"an object":            {`{"a":"b"}`, false},
		"NUL":                  {`"a\u0000b"`, false},
		"a newline":            {`"a\nb"`, false},
		"DEL":                  {`"a\u007fb"`, false},
		"C1":                   {`"a\u0085b"`, false},
		"a line separator":     {`"a\u2028b"`, false},
		"a lone surrogate":     {`"a\ud800b"`, false},
		"a lone low surrogate": {`"\udc00"`, false},
		"the wrong order":      {`"\ude00\ud83d"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := call(t, request("tasks/get", `"taskId":`+tc.json))
			if !c.IsTask() {
				t.Fatal("not seen as a task call: its id would never be checked")
			}
			if err := c.CheckTaskID(limit); (err == nil) != tc.ok {
				t.Errorf("got %v, want ok = %v", err, tc.ok)
			}
		})
	}
}
