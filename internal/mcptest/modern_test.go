package mcptest_test

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcptest"
)

func TestModernRefusals(t *testing.T) {
	const get = "tasks/get"
	version := []string{"MCP-Protocol-Version", "2026-07-28"}
	with := func(header ...string) []string { return append(version[:2:2], header...) }
	tests := map[string]struct {
		body   string
		header []string
		status int
		code   int
	}{
		"not JSON":              {`{"jsonrpc"`, version, 400, -32700},
		"batch":                 {`[` + body("tools/list", modernMeta) + `]`, version, 400, -32600},
		"response":              {`{"jsonrpc":"2.0","id":1,"result":{}}`, version, 400, -32600},
		"no version header":     {body("tools/list", modernMeta), []string{"Mcp-Method", "tools/list"}, 400, -32020},
		"no version in body":    {body("tools/list", ""), with("Mcp-Method", "tools/list"), 400, -32020},
		"other version in body": {body("tools/list", modernMeta), []string{"MCP-Protocol-Version", "2027-01-01", "Mcp-Method", "tools/list"}, 400, -32020},
		"no method header":      {body("tools/list", modernMeta), version, 400, -32020},
		"method header in caps": {body("tools/list", modernMeta), with("Mcp-Method", "TOOLS/LIST"), 400, -32020},
		"no name header":        {body("tools/call", `"name":"who",`+modernMeta), with("Mcp-Method", "tools/call"), 400, -32020},
		"name of another tool":  {body("tools/call", `"name":"who",`+modernMeta), with("Mcp-Method", "tools/call", "Mcp-Name", "greet"), 400, -32020},
		"broken base64 name":    {body("tools/call", `"name":"who",`+modernMeta), with("Mcp-Method", "tools/call", "Mcp-Name", "=?base64?d2hv!?="), 400, -32020},
		"unsupported version": {
			body("tools/list", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01"}`),
			[]string{"MCP-Protocol-Version", "2027-01-01", "Mcp-Method", "tools/list"}, 400, -32022,
		},
		"unknown method":         {body("tasks/result", byID("x")+","+modernMeta), with("Mcp-Method", "tasks/result"), 404, -32601},
		"no capability":          {body(get, byID("x")+","+tasklessMeta), with("Mcp-Method", get, "Mcp-Name", "x"), 400, -32021},
		"mismatch before that":   {body(get, byID("x")+","+tasklessMeta), with("Mcp-Method", get, "Mcp-Name", "y"), 400, -32020},
		"unknown task":           {body(get, byID("x")+","+modernMeta), with("Mcp-Method", get, "Mcp-Name", "x"), 200, -32602},
		"unknown task to cancel": {body("tasks/cancel", byID("x")+","+modernMeta), with("Mcp-Method", "tasks/cancel", "Mcp-Name", "x"), 200, -32602},
		"unknown tool":           {body("tools/call", `"name":"x",`+modernMeta), with("Mcp-Method", "tools/call", "Mcp-Name", "x"), 200, -32602},
		"task id as a number":    {body(get, `"taskId":7,`+modernMeta), with("Mcp-Method", get, "Mcp-Name", "7"), 400, -32602},
		"foreign origin":         {body("tools/list", modernMeta), with("Origin", "https://evil.example"), 403, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := &mcptest.Server{Name: "a"}
			r := newBench(t, s).post(test.body, test.header...)
			if r.status != test.status || r.code() != test.code {
				t.Errorf("got %d, %d, want %d, %d: %s", r.status, r.code(), test.status, test.code, r.body)
			}
			if s.Executions() != 0 {
				t.Error("a refused call ran a tool")
			}
		})
	}
}

func TestModernStreamsAndSessionsDoNotExist(t *testing.T) {
	b := newBench(t, &mcptest.Server{})
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		r := b.do(method, "", "MCP-Protocol-Version", "2026-07-28")
		if r.status != http.StatusMethodNotAllowed || r.header.Get("Allow") != "POST" {
			t.Errorf("%s: got %d, Allow %q, want 405, POST", method, r.status, r.header.Get("Allow"))
		}
	}
}

func TestEncodedNameIsDecoded(t *testing.T) {
	b := newBench(t, &mcptest.Server{Name: "a"})
	encoded := "=?base64?" + base64.StdEncoding.EncodeToString([]byte("who")) + "?="
	r := result[toolResult](t, b.modern("tools/call", encoded, `"name":"who"`))
	if r.StructuredContent.Instance != "a" || r.ResultType != "complete" {
		t.Errorf("got %+v, want a complete result of a", r)
	}
}

func TestExtensionTaskLivesUntilItsTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &mcptest.Server{Name: "a", TTL: 10 * time.Second}
		b := newBench(t, s)
		made := result[task](t, b.modern("tools/call", "slow_compute", slow(3)))
		if made.ResultType != "task" || made.Status != "working" || made.TTLMs != 10_000 || made.Result != nil {
			t.Fatalf("got %+v, want a working task without a result", made)
		}
		get := func() reply { return b.modern("tasks/get", made.TaskID, byID(made.TaskID)) }

		time.Sleep(3*time.Second - time.Nanosecond)
		if got := result[task](t, get()); got.Status != "working" || got.ResultType != "complete" {
			t.Errorf("before it is due: got %+v, want working", got)
		}
		time.Sleep(time.Nanosecond)
		got := result[task](t, get())
		if got.Status != "completed" || got.Result == nil || got.Result.ResultType != "complete" {
			t.Fatalf("when due: got %+v, want completed with a complete result", got)
		}
		if sc := got.Result.StructuredContent; sc.Instance != "a" || sc.Label != "job" {
			t.Errorf("got %+v, want job of a", sc)
		}
		time.Sleep(7*time.Second - time.Nanosecond)
		if r := get(); r.code() != 0 {
			t.Errorf("before its TTL: got %s, want the task", r.body)
		}
		time.Sleep(time.Nanosecond)
		if r := get(); r.status != http.StatusOK || r.code() != -32602 {
			t.Errorf("after its TTL: got %d %s, want 200, -32602", r.status, r.body)
		}
		if s.Denied("tasks/get") != 1 || s.Calls("tasks/get") != 4 {
			t.Errorf("got %d of %d polls denied, want 1 of 4", s.Denied("tasks/get"), s.Calls("tasks/get"))
		}
	})
}

// A CreateTaskResult carries no result (ext-tasks, "Task Creation"), and core
// tasks begin as working.
func TestTaskWithoutWorkBeginsAsWorking(t *testing.T) {
	b := newBench(t, &mcptest.Server{})
	made := result[task](t, b.modern("tools/call", "slow_compute", slow(0)))
	if made.Status != "working" || made.Result != nil {
		t.Errorf("got %+v, want it working, without a result", made)
	}
}

func TestExtensionCancelIsAcknowledgedTwice(t *testing.T) {
	b := newBench(t, &mcptest.Server{})
	made := result[task](t, b.modern("tools/call", "slow_compute", slow(60)))
	for range 2 {
		if got := result[task](t, b.modern("tasks/cancel", made.TaskID, byID(made.TaskID))); got.ResultType != "complete" {
			t.Errorf("got %+v, want an acknowledgement", got)
		}
	}
	if got := result[task](t, b.modern("tasks/get", made.TaskID, byID(made.TaskID))); got.Status != "cancelled" {
		t.Errorf("got %q, want cancelled", got.Status)
	}
	if r := b.modern("tasks/update", made.TaskID, byID(made.TaskID)+`,"inputResponses":{"x":{}}`); r.code() != 0 {
		t.Errorf("update: got %s, want an acknowledgement", r.body)
	}
}

func TestWithoutCapabilityTheCallIsSynchronous(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, &mcptest.Server{Name: "a"})
		start := time.Now()
		r := b.post(body("tools/call", slow(2)+","+tasklessMeta),
			"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "slow_compute")
		if got := result[toolResult](t, r); got.ResultType != "complete" || got.StructuredContent.Label != "job" {
			t.Errorf("got %+v, want the result itself", got)
		}
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("took %v, want 2s", took)
		}
	})
}

func TestModernHangupEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &mcptest.Server{}
		b := newBench(t, s)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := b.send(ctx, http.MethodPost, body("tools/call", slow(60)+","+tasklessMeta),
			"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "slow_compute")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v, want %v", err, context.DeadlineExceeded)
		}
		synctest.Wait()
		if s.Hangups("tools/call") != 1 {
			t.Errorf("got %d hang-ups, want 1, at once", s.Hangups("tools/call"))
		}
	})
}

func TestDiscoveryDeclaresTheExtensionExactly(t *testing.T) {
	type discovery struct {
		SupportedVersions []string
		Capabilities      struct{ Extensions map[string]map[string]any }
	}
	got := result[discovery](t, newBench(t, &mcptest.Server{}).modern("server/discover", "", ""))
	settings, ok := got.Capabilities.Extensions["io.modelcontextprotocol/tasks"]
	if !ok || settings == nil || len(settings) != 0 {
		t.Errorf("got %v, want exactly {}", got.Capabilities)
	}
}
