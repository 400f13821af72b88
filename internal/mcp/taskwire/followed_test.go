package taskwire

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"
	"berth/internal/wire"
)

func TestReadFollowed(t *testing.T) {
	got, err := ReadFollowed([]byte(`{"resultType":"complete","taskId":"t\u0031","status":"input_required","statusMessage":"a\nb","pollIntervalMs":1500,` +
		`"inputRequests":{"k": {"method":"x"}},"result":{"a": 1},"error":{"code":1},"ttlMs":null}`))
	want := Followed{
		ID: "t1", Status: "input_required", Message: "a b", PollInterval: 1500 * time.Millisecond,
		Asks: []inquiry.Input{{Key: "k", Value: []byte(`{"method":"x"}`)}}, Result: []byte(`{"a": 1}`), Error: []byte(`{"code":1}`),
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := ReadFollowed([]byte(`{"taskId":"t","status":"working","statusMessage":"` + strings.Repeat("x", 5000) + `","pollIntervalMs":-1,"result":[]}`)); err != nil ||
		len(got.Message) != 1<<10 || got.PollInterval != 0 || got.Result != nil {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestReadFollowedRefuses(t *testing.T) {
	for name, result := range map[string]string{
		"no id":              `{"status":"working"}`,
		"no status":          `{"taskId":"t"}`,
		"an id twice":        `{"taskId":"t","status":"working","taskId":"u"}`,
		"an id in two cases": `{"taskId":"t","status":"working","taskid":"u"}`,
		"asks of no kind":    `{"taskId":"t","status":"input_required","inputRequests":{"k":1}}`,
		"no object":          `[]`,
		"nothing":            ``,
	} {
		if got, err := ReadFollowed([]byte(result)); err == nil {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func TestTaskRequest(t *testing.T) {
	body := Request(`id"1`, mcp.MethodUpdateTask, `t"1`, "2026-07-28", []inquiry.Input{{Key: `k"`, Value: []byte(`{"a": 1}`)}})
	var m mcp.Message
	_, refused := m.Peek(body, 1)
	if refused == nil {
		refused = mcp.Classify(&m, new(wire.Header))
	}
	if refused != nil || m.Calls[0].TaskID != `t"1` || m.Calls[0].Method != mcp.MethodUpdateTask || !m.Calls[0].DeclaresTasks {
		t.Fatalf("%s is read as %+v, %v", body, m, refused)
	}
	if answers, err := inquiry.Responses(body); err != nil || len(answers) != 1 || answers[0].Key != `k"` || !json.Valid(answers[0].Value) {
		t.Errorf("answers %q, %v", answers, err)
	}
	if body := Request("1", mcp.MethodGetTask, "t", "2026-07-28", nil); strings.Contains(string(body), mcp.MemberInputResponses) {
		t.Errorf("a poll bears answers: %s", body)
	}
}
