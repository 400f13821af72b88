package mcp

import (
	"maps"
	"testing"
	"time"

	"berth/internal/jsonobject"
)

func TestDiscoverTellsOfCoreTasksAsTheExtension(t *testing.T) {
	for _, tt := range []struct{ name, initialized, want string }{
		{"tasks", `{"protocolVersion":"2025-11-25","capabilities":{"tasks":{"requests":{"tools":{"call":{}}}}}}`, `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`},
		{"beside others", `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"list":{},"requests":{"tools":{"call":{}}}},"extensions":{"a/b":{}}}}`,
			`{"tools":{},"extensions":{"a/b":{},"io.modelcontextprotocol/tasks":{}}}`},
		{"no calls of tools", `{"protocolVersion":"2025-11-25","capabilities":{"tasks":{"list":{}}}}`, `{}`},
		{"another revision", `{"protocolVersion":"2025-06-18","capabilities":{"tasks":{"requests":{"tools":{"call":{}}}}}}`, `{}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := jsonobject.At(DiscoverFrom([]byte(tt.initialized), "2026-07-28"), "capabilities")
			if string(got) != tt.want {
				t.Errorf("capabilities: got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestCoreTaskIsShownFlat(t *testing.T) {
	v, err := ReadCoreTask(HandedOut([]byte(`{"task":{"taskId":"t","status":"working","statusMessage":"on it",` +
		`"createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:40:00.5Z","ttl":60000,"pollInterval":500}}`)))
	if err != nil {
		t.Fatal(err)
	}
	if v.TTL != time.Minute || v.PollInterval != 500*time.Millisecond {
		t.Errorf("got ttl %v, poll interval %v, want 1m, 500ms", v.TTL, v.PollInterval)
	}
	want := `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t","status":"working","statusMessage":"on it","createdAt":"2025-11-25T10:30:00.000Z",` +
		`"lastUpdatedAt":"2025-11-25T10:40:00.500Z","ttlMs":60000,"pollIntervalMs":500,` + ownMeta + `}}`
	if got := string(v.Handle([]byte("1"))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWhatTellsOfNoCoreTask(t *testing.T) {
	for _, raw := range []string{``, `[]`, `{}`, `{"taskId":"t"}`, `{"taskId":"","status":"working"}`, `{"taskId":"t","status":5}`, `{"taskId":"t","taskId":"u","status":"working"}`} {
		if v, err := ReadCoreTask([]byte(raw)); err == nil {
			t.Errorf("%s: got %+v, want an error", raw, v)
		}
	}
	if got := HandedOut([]byte(`{"content":[]}`)); got != nil {
		t.Errorf("a plain result: got task %s, want none", got)
	}
}

func TestStatusThatTheExtensionHasNotIsWork(t *testing.T) {
	for status, want := range map[string]string{"submitted": "working", "unknown": "working", "odd": "working", "input_required": "input_required", "failed": "failed"} {
		if v, err := ReadCoreTask([]byte(`{"taskId":"t","status":"` + status + `"}`)); err != nil || v.Status != want {
			t.Errorf("%s: got %s, %v, want %s", status, v.Status, err, want)
		}
	}
}

func TestCallAsTaskDiffersInThatAlone(t *testing.T) {
	got, err := AsTask([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`))
	want := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","task":{}}}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func TestToolsSayWhichTakePartInTasks(t *testing.T) {
	got := map[string]string{}
	AddTaskSupports(got, []byte(`{"tools":[{"name":"a","execution":{"taskSupport":"required"}},{"name":"b"},{"name":"c","execution":{"taskSupport":"forbidden"}}]}`))
	if want := map[string]string{"a": TaskRequired, "b": "", "c": TaskForbidden}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestResultOfTaskIsTheToolsOwn(t *testing.T) {
	got := WithoutRelatedTask([]byte(`{"content":[],"_meta":{"a":1,"io.modelcontextprotocol/related-task":{"taskId":"t"}}}`))
	if want := `{"content":[],"_meta":{"a":1}}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
