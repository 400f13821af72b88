package taskwire

import (
	"berth/internal/mcp"
	"maps"
	"testing"
	"time"
)

func TestCoreTaskIsShownFlat(t *testing.T) {
	v, err := ReadCore(HandedOut([]byte(`{"task":{"taskId":"t","status":"working","statusMessage":"on it",` +
		`"createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:40:00.5Z","ttl":60000,"pollInterval":500}}`)))
	if err != nil {
		t.Fatal(err)
	}
	if v.TTL != time.Minute || v.PollInterval != 500*time.Millisecond {
		t.Errorf("got ttl %v, poll interval %v, want 1m, 500ms", v.TTL, v.PollInterval)
	}
	want := `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t","status":"working","statusMessage":"on it","createdAt":"2025-11-25T10:30:00.000Z",` +
		`"lastUpdatedAt":"2025-11-25T10:40:00.500Z","ttlMs":60000,"pollIntervalMs":500,` + mcp.MetaOfOwn + `}}`
	if got := string(v.Handle([]byte("1"))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWhatTellsOfNoCoreTask(t *testing.T) {
	for _, raw := range []string{``, `[]`, `{}`, `{"taskId":"t"}`, `{"taskId":"","status":"working"}`, `{"taskId":"t","status":5}`, `{"taskId":"t","taskId":"u","status":"working"}`} {
		if v, err := ReadCore([]byte(raw)); err == nil {
			t.Errorf("%s: got %+v, want an error", raw, v)
		}
	}
	if got := HandedOut([]byte(`{"content":[]}`)); got != nil {
		t.Errorf("a plain result: got task %s, want none", got)
	}
}

func TestStatusThatTheExtensionHasNotIsWork(t *testing.T) {
	for status, want := range map[string]string{"submitted": "working", "unknown": "working", "odd": "working", "input_required": "input_required", "failed": "failed"} {
		if v, err := ReadCore([]byte(`{"taskId":"t","status":"` + status + `"}`)); err != nil || v.Status != want {
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
	AddSupports(got, []byte(`{"tools":[{"name":"a","execution":{"taskSupport":"required"}},{"name":"b"},{"name":"c","execution":{"taskSupport":"forbidden"}}]}`))
	if want := map[string]string{"a": Required, "b": "", "c": Forbidden}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestResultOfTaskIsTheToolsOwn(t *testing.T) {
	got := WithoutRelated([]byte(`{"content":[],"_meta":{"a":1,"io.modelcontextprotocol/related-task":{"taskId":"t"}}}`))
	if want := `{"content":[],"_meta":{"a":1}}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
