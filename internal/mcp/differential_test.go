package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"berth/internal/jsonobject"
)

// tree is a JSON object as encoding/json's tokens tell it: every member, in order,
// duplicates and all.
type tree []member

type member struct {
	name  string
	value any // tree, []any, or a scalar token
}

// parseTree reads the one JSON value in data; ok is false if it is none.
func parseTree(data []byte) (value any, ok bool) {
	if !json.Valid(data) {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return parseValue(dec), true
}

func parseValue(dec *json.Decoder) any {
	tok, _ := dec.Token()
	switch tok {
	case json.Delim('{'):
		object := tree{}
		for dec.More() {
			name, _ := dec.Token()
			object = append(object, member{name.(string), parseValue(dec)})
		}
		_, _ = dec.Token()
		return object
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			list = append(list, parseValue(dec))
		}
		_, _ = dec.Token()
		return list
	}
	return tok
}

// get returns the value of the first member of that name, or absent.
func (o tree) get(name string) any {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return absent{}
}

type absent struct{}

func (o tree) repeats(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return len(slices.DeleteFunc(slices.Clone(o), func(m member) bool { return m.name != name })) > 1
	})
}

// clean reports whether encoding/json could fill each of known from one member
// only, and whether no name stands there twice. It asks encoding/json itself
// which names it would take.
func (o tree) clean(known ...string) bool {
	seen := map[string]bool{}
	for _, m := range o {
		if seen[m.name] || len(seen) == jsonobject.MaxMembers {
			return false
		}
		seen[m.name] = true
		for _, k := range known {
			if m.name != k && taken(m.name, k) {
				return false
			}
		}
	}
	return true
}

// taken reports whether encoding/json puts a member called name into a field
// tagged known.
func taken(name, known string) bool {
	object, _ := json.Marshal(map[string]int{name: 1})
	target := reflect.New(reflect.StructOf([]reflect.StructField{
		{Name: "F", Type: reflect.TypeFor[int](), Tag: reflect.StructTag(`json:"` + known + `"`)},
	}))
	return json.Unmarshal(object, target.Interface()) == nil && target.Elem().Field(0).Int() == 1
}

// verdict is what the second parser makes of one message.
type verdict struct {
	method, taskID, name, version string
	id                            any
	listen                        []string
}

// judge is the second parser: what Peek should do with one message, written as a
// reading of the rules over encoding/json's tokens.
func judge(value any) (v verdict, ok bool) {
	o, isObject := value.(tree)
	if !isObject || !o.clean("jsonrpc", "id", "method", "params", "result", "error") || o.get("jsonrpc") != "2.0" {
		return v, false
	}
	has := func(name string) bool { return o.get(name) != any(absent{}) }
	v.id = o.get("id")
	switch v.id.(type) {
	case string, json.Number, absent:
	case nil:
		v.id = absent{}
		if !has("error") || has("method") {
			return v, false
		}
	default:
		return v, false
	}
	if !has("method") {
		_, noID := v.id.(absent)
		return v, has("result") != has("error") && (has("error") || !noID)
	}
	v.method, ok = o.get("method").(string)
	if !ok || v.method == "" || has("result") || has("error") {
		return v, false
	}
	params, isObject := o.get("params").(tree)
	if !isObject {
		return v, true
	}
	return v, v.judgeParams(params)
}

func (v *verdict) judgeParams(params tree) bool {
	known := []string{"_meta"}
	switch {
	case strings.HasPrefix(v.method, "tasks/"):
		known = append(known, "taskId")
	case v.method == "tools/call" || v.method == "prompts/get":
		known = append(known, "name")
		v.name, _ = params.get("name").(string)
	case v.method == "resources/read":
		known = append(known, "uri")
		v.name, _ = params.get("uri").(string)
	case v.method == "subscriptions/listen":
		known = append(known, "notifications")
		if !v.judgeListen(params.get("notifications")) {
			return false
		}
	}
	v.taskID, _ = params.get("taskId").(string)
	return params.clean(known...) && v.judgeMeta(params.get("_meta"))
}

func (v *verdict) judgeListen(value any) bool {
	filter, _ := value.(tree)
	wish := filter.get("taskIds")
	ids, isList := wish.([]any)
	if _, none := wish.(absent); !isList && !none && wish != nil {
		return false
	}
	for _, id := range ids {
		s, isString := id.(string)
		if !isString {
			return false
		}
		v.listen = append(v.listen, s)
	}
	return filter.clean("taskIds")
}

func (v *verdict) judgeMeta(value any) bool {
	meta, _ := value.(tree)
	v.version, _ = meta.get(MetaVersion).(string)
	capabilities, _ := meta.get(MetaCapabilities).(tree)
	extensions, _ := capabilities.get("extensions").(tree)
	made, _ := meta.get(metaNewTask).(tree)
	related, _ := meta.get(metaRelatedTask).(tree)
	return meta.clean(MetaVersion, MetaCapabilities, metaNewTask, metaRelatedTask) && capabilities.clean() && extensions.clean() &&
		made.clean("taskId") && related.clean("taskId")
}

// judgeBody is judge for a whole body.
func judgeBody(body []byte, maxBatch int) (all []verdict, ok bool) {
	value, ok := parseTree(body)
	if !ok || !utf8.Valid(body) {
		return nil, false
	}
	list, isBatch := value.([]any)
	if !isBatch {
		list = []any{value}
	}
	for _, value := range list {
		v, ok := judge(value)
		if !ok {
			return nil, false
		}
		all = append(all, v)
	}
	return all, len(all) > 0 && (!isBatch || len(all) <= maxBatch)
}

func verdictOf(c *Call) verdict {
	v := verdict{c.Method, c.TaskID, c.Name, c.metaVersion, absent{}, c.Listen.TaskIDs()}
	if c.ID != nil {
		v.id, _ = parseTree(c.ID)
	}
	return v
}

// FuzzPeek holds Peek against a second strict parser, and against the careless
// one that many servers use: what Peek lets through must mean the same to all.
func FuzzPeek(f *testing.F) {
	for _, body := range []string{
		request("tools/call", `"name":"greet","arguments":{"a":1,"a":2},`+meta), request("tasks/get", `"taskId":"a"`),
		request("tasks/get", `"taskId":"a","TASKID":"b"`), request("tasks/get", `"taskId":"a","task\u0049d":"b"`),
		request("tasks/get", `"taskId":"a","tas`+"\u212a"+`Id":"b","ta`+"\u017f"+`kId":"c"`), request("resources/read", `"uri":"u","Uri":"v"`),
		request(MethodListen, `"notifications":{"taskIds":["a","\ud800"]}`), request(MethodListen, `"notifications":{"taskIds":[null]}`),
		`{"jsonrpc":"2.0","id":1e400,"\u006dethod":"ping"}`, `{"jsonrpc":"2.0","id":null,"error":{}}`, `{"jsonrpc":"2.0","error":{}}`,
		`{"jsonrpc":"2.0","id":"\ud800","result":null}`, `[` + request("ping", "") + `,` + request("tools/call", `"_meta":{"`+MetaCapabilities+`":{"extensions":{"a":1,"a":2}}}`) + `]`,
		// What the second parser once judged otherwise.
		request(MethodListen, ""), request(MethodListen, `"notifications":7`), request(MethodListen, `"notifications":{"toolsListChanged":true}`),
		request(MethodListen, `"notifications":{"taskIds":7}`), request("ping", `"_meta":{"`+strings.ToUpper(metaNewTask)+`":1}`),
		request("ping", `"_meta":{"`+metaRelatedTask+`":{"taskId":"a","TaskId":"b"}}`),
		`{"params":{"taskId":"a","Taskid":"b"},"id":1,"method":"tasks/get","jsonrpc":"2.0"}`, request("ping", `"_meta":{"`+MetaCapabilities+`":{"a":{},"A":1},"a\u0062":1,"ab":2}`),
		`[]`, `[[]]`, ``, `{`, "\ufeff{}", `{"jsonrpc":"2.0","id":1,"method":"ping"} x`, `{"jsonrpc":"2.0","id":true,"method":"ping"}`,
		`{"jsonrpc":"2.0","method":"a","method":"b","id":1}`, `{"":1,"jsonrpc":"2.0","method":"ping","params":{"":"x"}}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		const maxBatch = 3
		msg, _, refusal := peek(body, maxBatch)
		want, ok := judgeBody(body, maxBatch)
		if (refusal == nil) != ok {
			t.Fatalf("%q: Peek says %v, the second parser %v", body, refusal, ok)
		}
		if refusal != nil {
			if json.Valid(body) && utf8.Valid(body) != (refusal.Code != CodeParse) {
				t.Fatalf("%q is JSON, but refused as none: %v", body, refusal)
			}
			return
		}
		for i := range msg.Calls {
			if got := verdictOf(&msg.Calls[i]); !reflect.DeepEqual(got, want[i]) {
				t.Fatalf("%q: Peek reads %+v, the second parser %+v", body, got, want[i])
			}
		}
		checkReencoded(t, body, msg)
		if !msg.Batch {
			checkCareless(t, body, &msg.Calls[0])
		}
	})
}

// checkReencoded: a server behind another proxy, which decodes and encodes anew,
// reads the same.
func checkReencoded(t *testing.T, body []byte, msg *Message) {
	t.Helper()
	var value any
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := dec.Decode(&value); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	second, _, refusal := peek(again, len(msg.Calls))
	if refusal != nil {
		t.Fatalf("%q is accepted, its other form %q is not: %v", body, again, refusal)
	}
	for i := range msg.Calls {
		got, want := verdictOf(&second.Calls[i]), verdictOf(&msg.Calls[i])
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q reads %+v, its other form %q %+v", body, want, again, got)
		}
	}
}

// checkCareless: a server that decodes into structs with encoding/json, the last
// duplicate and any case winning, acts on the values that Peek has read.
func checkCareless(t *testing.T, body []byte, c *Call) {
	t.Helper()
	var message struct {
		Method any             `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(body, &message); err != nil {
		t.Fatal(err)
	}
	if message.Method != nil && message.Method != c.Method {
		t.Fatalf("%q: method %v, not %q", body, message.Method, c.Method)
	}
	params := struct {
		TaskID any `json:"taskId"`
		Name   any `json:"name"`
		URI    any `json:"uri"`
		Meta   any `json:"_meta"`
	}{}
	if json.Unmarshal(message.Params, &params) != nil {
		return // no object
	}
	same := func(got any, want string) {
		t.Helper()
		if s, isString := got.(string); isString && s != want || !isString && want != "" {
			t.Fatalf("%q: a careless server reads %v, not %q", body, got, want)
		}
	}
	switch field := nameField(c.Method); field {
	case "taskId":
		same(params.TaskID, c.TaskID)
	case "name":
		same(params.Name, c.Name)
	case "uri":
		same(params.URI, c.Name)
	}
	if meta, isObject := params.Meta.(map[string]any); isObject {
		same(meta[MetaVersion], c.metaVersion)
	}
}

// A fuzz target is only as good as its oracle: this one must tell the difference.
func TestTheSecondParserSeesWhatACarelessOneMixesUp(t *testing.T) {
	for name, known := range map[string]string{"METHOD": "method", "ta\u017fkid": "taskId", "tas\u212aId": "taskId", "param\u017f": "params"} {
		if !taken(name, known) {
			t.Errorf("encoding/json no longer takes %q for %q", name, known)
		}
	}
	if _, ok := judgeBody([]byte(request("tasks/get", `"taskId":"a","TaskID":"b"`)), 1); ok {
		t.Error("the second parser accepts a name in another case")
	}
	if all, ok := judgeBody([]byte(request("tasks/get", `"taskId":"a"`)), 1); !ok || fmt.Sprint(all) != "[{tasks/get a   1 []}]" {
		t.Errorf("the second parser reads %v, %v", all, ok)
	}
}
