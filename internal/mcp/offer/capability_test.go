package offer

import (
	"berth/internal/jsonobject/jsontest"
	"berth/internal/mcp"
	"strings"
	"testing"
)

func TestAddTasksCapability(t *testing.T) {
	const (
		tasks = `"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}`
		at    = `"protocolVersion":"2025-11-25"`
	)
	for name, tc := range map[string]struct{ message, want string }{
		"others": {
			` {"jsonrpc":"2.0", "id" : 1,"result":{ ` + at + `, "capabilities":{"tools":{ } }, "serverInfo":{"version":1.0}}} `,
			` {"jsonrpc":"2.0", "id" : 1,"result":{ ` + at + `, "capabilities":{"tools":{ },` + tasks + ` }, "serverInfo":{"version":1.0}}} `,
		},
		"none":               {`{"id":1,"result":{"capabilities":{ },` + at + `}}`, `{"id":1,"result":{"capabilities":{` + tasks + ` },` + at + `}}`},
		"experimental ones":  {`{"id":1,"result":{` + at + `,"capabilities":{"experimental":{` + tasks + `}}}}`, `{"id":1,"result":{` + at + `,"capabilities":{"experimental":{` + tasks + `},` + tasks + `}}}`},
		"a null error":       {`{"id":1,"error":null,"result":{` + at + `,"capabilities":{}}}`, `{"id":1,"error":null,"result":{` + at + `,"capabilities":{` + tasks + `}}}`},
		"an escaped version": {`{"id":1,"result":{"protocolVersion":"2025\u002d11-25","capabilities":{}}}`, `{"id":1,"result":{"protocolVersion":"2025\u002d11-25","capabilities":{` + tasks + `}}}`},
		"there":              {`{"id":1,"result":{` + at + `,"capabilities":{"tasks":{"cancel":{}}}}}`, ""},
		"there, as null":     {`{"id":1,"result":{` + at + `,"capabilities":{"tasks":null}}}`, ""},
		"there, escaped":     {`{"id":1,"result":{` + at + `,"capabilities":{"\u0074asks":{}}}}`, ""},
		"in another case":    {`{"id":1,"result":{` + at + `,"capabilities":{"Tasks":{}}}}`, ""},
		"before":             {`{"id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}`, ""},
		"long before":        {`{"id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{}}}`, ""},
		"after":              {`{"id":1,"result":{"protocolVersion":"2026-07-28","capabilities":{}}}`, ""},
		"no version":         {`{"id":1,"result":{"capabilities":{}}}`, ""},
		"no capabilities":    {`{"id":1,"result":{` + at + `}}`, ""},
		"null capabilities":  {`{"id":1,"result":{` + at + `,"capabilities":null}}`, ""},
		"a list of them":     {`{"id":1,"result":{` + at + `,"capabilities":["tools"]}}`, ""},
		"capabilities twice": {`{"id":1,"result":{` + at + `,"capabilities":{},"capabilities":{}}}`, ""},
		"an error":           {`{"id":1,"error":{"code":-32600,"message":"no"}}`, ""},
		"an error and more":  {`{"id":1,"error":{"code":-32600,"message":"no"},"result":{` + at + `,"capabilities":{}}}`, ""},
		"a result of text":   {`{"id":1,"result":"x"}`, ""},
		"a request":          {`{"id":1,"method":"initialize","params":{` + at + `,"capabilities":{}}}`, ""},
		"no JSON":            {`<html>`, ""},
		"cut off":            {`{"id":1,"result":{` + at + `,"capabilities":{}}`, ""},
		"a batch":            {`[{"id":1,"result":{` + at + `,"capabilities":{}}}]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			want := tc.want
			if want == "" { // left alone
				want = tc.message
			}
			got, added := AddTasksCapability([]byte(tc.message), false)
			if string(got) != want || added != (tc.want != "") {
				t.Errorf("got  %s, %v\nwant %s", got, added, want)
			}
			if own := strings.HasPrefix(name, "there"); OffersTasks([]byte(tc.message)) != own {
				t.Errorf("offers tasks: %v, want %v", !own, own)
			}
		})
	}
}

// Lists are offered only where they can be told apart.
func TestAddTasksCapabilityWithLists(t *testing.T) {
	got, _ := AddTasksCapability([]byte(`{"id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}`), true)
	if want := `{"id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}}}`; string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// FuzzAddTasksCapability: an independent reader finds the capability, and all the rest as
// it was; without what was added every byte is the upstream's.
func FuzzAddTasksCapability(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{} },"serverInfo":{}}}`))
	f.Add([]byte(`{"id":1,"result":{"capabilities":{ },"protocolVersion":"2025-11-25"}} `))
	f.Add([]byte(`{"id":1,"result":{"capabilities":{"tasks":{}},"protocolVersion":"2025-11-25"}}`))
	f.Add([]byte(`{"id":1,"error":{"code":1}}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		got, added := AddTasksCapability(message, true)
		if !added {
			if string(got) != string(message) {
				t.Fatalf("left alone, but it became %q", got)
			}
			return
		}
		want, ok := jsontest.Decode(t, message).(map[string]any)
		result, _ := want["result"].(map[string]any)
		if !ok || result == nil || want["error"] != nil || result["protocolVersion"] != mcp.VersionCoreTasks {
			t.Fatalf("took %q", message)
		}
		capabilities, ok := result["capabilities"].(map[string]any)
		if _, there := capabilities["tasks"]; there || !ok {
			t.Fatalf("added to %q", message)
		}
		const tasks = `"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`
		capabilities["tasks"] = jsontest.Decode(t, []byte("{"+tasks+"}")).(map[string]any)["tasks"]
		jsontest.Same(t, got, want)
		before := strings.Replace(string(got), ","+tasks, "", 1)
		if len(before) == len(got) {
			before = strings.Replace(string(got), tasks, "", 1)
		}
		if before != string(message) {
			t.Errorf("without the capability %q is %q", got, before)
		}
		if !OffersTasks(got) {
			t.Errorf("not to be found in %q", got)
		}
	})
}
