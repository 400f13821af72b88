package offer

import (
	"strings"
	"testing"

	"berth/internal/jsonobject/jsontest"
)

func TestAddTasksExtension(t *testing.T) {
	const tasks = `"io.modelcontextprotocol/tasks":{}`
	for name, tc := range map[string]struct{ message, want string }{
		"no extensions": {
			`{"jsonrpc":"2.0","id":1,"result":{ "supportedVersions":["2026-07-28"], "capabilities":{"tools":{ }}, "_meta":{}}} `,
			`{"jsonrpc":"2.0","id":1,"result":{ "supportedVersions":["2026-07-28"], "capabilities":{"tools":{ },"extensions":{` + tasks + `}}, "_meta":{}}} `,
		},
		"others":             {`{"id":1,"result":{"capabilities":{"extensions":{"a":{} }}}}`, `{"id":1,"result":{"capabilities":{"extensions":{"a":{},` + tasks + ` }}}}`},
		"an empty list":      {`{"id":1,"result":{"capabilities":{"extensions":{}}}}`, `{"id":1,"result":{"capabilities":{"extensions":{` + tasks + `}}}}`},
		"null":               {`{"id":1,"result":{"capabilities":{"extensions":null}}}`, `{"id":1,"result":{"capabilities":{"extensions":{` + tasks + `}}}}`},
		"no capabilities":    {`{"id":1,"result":{}}`, `{"id":1,"result":{"capabilities":{"extensions":{` + tasks + `}}}}`},
		"a null error":       {`{"id":1,"error":null,"result":{}}`, `{"id":1,"error":null,"result":{"capabilities":{"extensions":{` + tasks + `}}}}`},
		"experimental ones":  {`{"id":1,"result":{"capabilities":{"experimental":{` + tasks + `}}}}`, `{"id":1,"result":{"capabilities":{"experimental":{` + tasks + `},"extensions":{` + tasks + `}}}}`},
		"there":              {`{"id":1,"result":{"capabilities":{"extensions":{` + tasks + `}}}}`, ""},
		"there, with more":   {`{"id":1,"result":{"capabilities":{"extensions":{"io.modelcontextprotocol/tasks":{"a":1}}}}}`, ""},
		"there, as null":     {`{"id":1,"result":{"capabilities":{"extensions":{"io.modelcontextprotocol/tasks":null}}}}`, ""},
		"there, escaped":     {`{"id":1,"result":{"capabilities":{"extensions":{"io.modelcontextprotocol\/tasks":{}}}}}`, ""},
		"an error":           {`{"id":1,"error":{"code":-32601,"message":"no"}}`, ""},
		"an error and more":  {`{"id":1,"error":{"code":-32601,"message":"no"},"result":{}}`, ""},
		"a result of text":   {`{"id":1,"result":"x"}`, ""},
		"a list of them":     {`{"id":1,"result":{"capabilities":{"extensions":["a"]}}}`, ""},
		"in another case":    {`{"id":1,"result":{"Capabilities":{}}}`, ""},
		"capabilities twice": {`{"id":1,"result":{"capabilities":{},"capabilities":{}}}`, ""},
		"a request":          {`{"id":1,"method":"server/discover","params":{}}`, ""},
		"no JSON":            {`<html>`, ""},
		"cut off":            {`{"id":1,"result":{"capabilities":{}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			want := tc.want
			if want == "" { // left alone
				want = tc.message
			}
			got, added := AddTasksExtension([]byte(tc.message))
			if string(got) != want || added != (tc.want != "") {
				t.Errorf("got  %s, %v\nwant %s", got, added, want)
			}
		})
	}
}

// FuzzAddTasksExtension: an independent reader finds the extension, and all the rest as it
// was; what has it, or is no result, stays as it came.
func FuzzAddTasksExtension(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"tools":{},"extensions":{"a":{}}},"serverInfo":{}}}`))
	f.Add([]byte(`{"id":1,"result":{"capabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}`))
	f.Add([]byte(`{"id":1,"result":{"capabilities":null}}`))
	f.Add([]byte(`{"id":1,"result":{ } ,"error":null}`))
	f.Add([]byte(`{"id":1,"error":{"code":1}}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		got, added := AddTasksExtension(message)
		if !added {
			if string(got) != string(message) {
				t.Fatalf("left alone, but it became %q", got)
			}
			return
		}
		want, ok := jsontest.Decode(t, message).(map[string]any)
		result, _ := want["result"].(map[string]any)
		if !ok || result == nil || want["error"] != nil {
			t.Fatalf("took %q", message)
		}
		extensions := jsontest.Within(t, jsontest.Within(t, result, "capabilities"), "extensions")
		if _, there := extensions["io.modelcontextprotocol/tasks"]; there {
			t.Fatalf("added to %q, which has it", message)
		}
		extensions["io.modelcontextprotocol/tasks"] = map[string]any{}
		jsontest.Same(t, got, want)
		if _, again := AddTasksExtension(got); again {
			t.Errorf("added twice to %q", message)
		}
	})
}

func TestHasCapability(t *testing.T) {
	initialized := []byte(`{"capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":false},"logging":{},"completions":null}}`)
	for path, want := range map[string]bool{"tools": true, "tools listChanged": true, "prompts listChanged": false, "logging": true, "completions": false, "resources": false, "logging x": false} {
		if got := HasCapability(initialized, strings.Fields(path)...); got != want {
			t.Errorf("%s: got %v", path, got)
		}
	}
}
