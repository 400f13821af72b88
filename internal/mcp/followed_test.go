package mcp

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestReadFollowed(t *testing.T) {
	got, err := ReadFollowed([]byte(`{"resultType":"complete","taskId":"t\u0031","status":"input_required","statusMessage":"a\nb","pollIntervalMs":1500,` +
		`"inputRequests":{"k": {"method":"x"}},"result":{"a": 1},"error":{"code":1},"ttlMs":null}`))
	want := FollowedTask{
		ID: "t1", Status: "input_required", Message: "a b", PollInterval: 1500 * time.Millisecond,
		Asks: []Input{{"k", []byte(`{"method":"x"}`)}}, Result: []byte(`{"a": 1}`), Error: []byte(`{"code":1}`),
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := ReadFollowed([]byte(`{"taskId":"t","status":"working","statusMessage":"` + strings.Repeat("x", 5000) + `","pollIntervalMs":-1,"result":[]}`)); err != nil ||
		len(got.Message) != maxProgressText || got.PollInterval != 0 || got.Result != nil {
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
	body := TaskRequest(`id"1`, MethodUpdateTask, `t"1`, "2026-07-28", []Input{{`k"`, []byte(`{"a": 1}`)}})
	m, _, refused := peek(body, 1)
	if refused != nil || m.Calls[0].TaskID != `t"1` || m.Calls[0].Method != MethodUpdateTask || !m.Calls[0].DeclaresTasks {
		t.Fatalf("%s is read as %+v, %v", body, m, refused)
	}
	if answers, err := InputResponses(body); err != nil || len(answers) != 1 || answers[0].Key != `k"` || !json.Valid(answers[0].Value) {
		t.Errorf("answers %q, %v", answers, err)
	}
	if body := TaskRequest("1", MethodGetTask, "t", "2026-07-28", nil); strings.Contains(string(body), memberInputResponses) {
		t.Errorf("a poll bears answers: %s", body)
	}
}
