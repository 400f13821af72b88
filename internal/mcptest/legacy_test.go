package mcptest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcptest"
)

func TestLegacyRefusals(t *testing.T) {
	s := &mcptest.Server{Name: "a"}
	b := newBench(t, s)
	session := b.open("2025-11-25")
	tests := map[string]struct {
		session string
		version string
		body    string
		status  int
		code    int
	}{
		"no session":        {"", "2025-11-25", body("ping", ""), 400, -32000},
		"unknown session":   {"nobody", "2025-11-25", body("ping", ""), 404, -32001},
		"unknown version":   {session, "2024-01-01", body("ping", ""), 400, -32000},
		"batch too late":    {session, "2025-11-25", "[" + body("ping", "") + "]", 400, -32600},
		"empty batch":       {session, "2025-11-25", "[]", 400, -32600},
		"unknown method":    {session, "2025-11-25", body("x", ""), 200, -32601},
		"unknown task":      {session, "2025-11-25", body("tasks/get", byID("x")), 200, -32602},
		"its result":        {session, "2025-11-25", body("tasks/result", byID("x")), 200, -32602},
		"modern without":    {"", "2025-11-25", body("server/discover", ""), 400, -32000},
		"modern, contrary":  {session, "2025-11-25", body("ping", modernMeta), 400, -32020},
		"ping":              {session, "2025-11-25", body("ping", ""), 200, 0},
		"older version":     {session, "2025-06-18", body("ping", ""), 200, 0},
		"notification":      {session, "2025-11-25", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, 0},
		"client's response": {session, "2025-11-25", `{"jsonrpc":"2.0","id":3,"result":{}}`, 202, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			header := []string{"MCP-Protocol-Version", test.version}
			if test.session != "" {
				header = append(header, "Mcp-Session-Id", test.session)
			}
			r := b.post(test.body, header...)
			if r.status != test.status || r.code() != test.code {
				t.Errorf("got %d, %d, want %d, %d: %s", r.status, r.code(), test.status, test.code, r.body)
			}
			if test.status == http.StatusAccepted && (r.body != "" || r.header.Get("Content-Type") != "") {
				t.Errorf("got %q of type %q, want neither", r.body, r.header.Get("Content-Type"))
			}
		})
	}
}

func TestTaskOfASessionIsUnknownElsewhere(t *testing.T) {
	b := newBench(t, &mcptest.Server{SessionOptional: true})
	mine, other := b.open("2025-11-25"), b.open("2025-11-25")
	type created struct{ Task task }
	made := result[created](t, b.legacy(mine, "tools/call", slow(60)+`,"task":{"ttl":5000}`)).Task
	if made.Status != "working" || made.TTL != 5000 {
		t.Fatalf("got %+v, want a working task with the ttl asked for", made)
	}
	for session, code := range map[string]int{mine: 0, other: -32602, "": -32602} {
		if r := b.legacy(session, "tasks/get", byID(made.TaskID)); r.code() != code {
			t.Errorf("from session %q: got %s, want code %d", session, r.body, code)
		}
	}
	type list struct{ Tasks []task }
	if got := result[list](t, b.legacy(mine, "tasks/list", "")); len(got.Tasks) != 1 || got.Tasks[0].TaskID != made.TaskID {
		t.Errorf("got %+v, want the one task", got)
	}
	if got := result[list](t, b.legacy(other, "tasks/list", "")); got.Tasks == nil || len(got.Tasks) != 0 {
		t.Errorf("got %+v, want an empty list", got)
	}
}

func TestCoreResultBlocksUntilTheEnd(t *testing.T) {
	type created struct{ Task task }
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, &mcptest.Server{Name: "a", Stateless: true})
		start := time.Now()
		made := result[created](t, b.legacy("", "tools/call", slow(90)+`,"task":{}`)).Task
		got := result[toolResult](t, b.legacy("", "tasks/result", byID(made.TaskID)))
		if took := time.Since(start); took != 90*time.Second {
			t.Errorf("took %v, want 1m30s", took)
		}
		if got.StructuredContent.Label != "job" || got.ResultType != "" {
			t.Errorf("got %+v, want the plain result", got)
		}
		if related := got.Meta["io.modelcontextprotocol/related-task"].TaskID; related != made.TaskID {
			t.Errorf("related task: got %q, want %q", related, made.TaskID)
		}
	})
}

func TestWaitingForAResultEnds(t *testing.T) {
	type created struct{ Task task }
	const ttl = `,"task":{"ttl":10000}`
	tests := map[string]struct {
		after func(b *bench, id string)
		took  time.Duration
		code  int
	}{
		"cancelled": {func(b *bench, id string) { b.legacy("", "tasks/cancel", byID(id)) }, time.Second, -32603},
		"closed":    {func(b *bench, _ string) { b.server.Close() }, time.Second, -32603},
		"expired":   {func(*bench, string) {}, 10 * time.Second, -32602},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, &mcptest.Server{Stateless: true})
				made := result[created](t, b.legacy("", "tools/call", slow(60)+ttl)).Task
				start := time.Now()
				var meanwhile sync.WaitGroup
				meanwhile.Go(func() {
					time.Sleep(time.Second)
					test.after(b, made.TaskID)
				})
				r := b.legacy("", "tasks/result", byID(made.TaskID))
				if took := time.Since(start); took != test.took || r.code() != test.code {
					t.Errorf("got %s after %v, want code %d after %v", r.body, took, test.code, test.took)
				}
				meanwhile.Wait()
			})
		})
	}
}

func TestCoreCancelOfATerminalTaskIsRefused(t *testing.T) {
	type created struct{ Task task }
	b := newBench(t, &mcptest.Server{Stateless: true})
	made := result[created](t, b.legacy("", "tools/call", slow(60)+`,"task":{}`)).Task
	if got := result[task](t, b.legacy("", "tasks/cancel", byID(made.TaskID))); got.Status != "cancelled" {
		t.Errorf("got %q, want cancelled", got.Status)
	}
	if r := b.legacy("", "tasks/cancel", byID(made.TaskID)); r.code() != -32602 {
		t.Errorf("got %s, want -32602", r.body)
	}
}

func TestGreetIsNeverATask(t *testing.T) {
	b := newBench(t, &mcptest.Server{Name: "a", Stateless: true})
	r := b.legacy("", "tools/call", `"name":"greet","arguments":{"name":"Ada"},"task":{}`)
	if !strings.Contains(r.body, `"Hello, Ada!"`) {
		t.Errorf("got %s, want the greeting itself", r.body)
	}
}

func TestBatchIsAnsweredWhereTheVersionHasThem(t *testing.T) {
	b := newBench(t, &mcptest.Server{})
	session := b.open("2025-03-26")
	r := b.post(`[`+body("ping", "")+`,{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":"two","method":"x"}]`, "Mcp-Session-Id", session)
	var answers []struct {
		ID    any
		Error *struct{ Code int }
	}
	if err := json.Unmarshal([]byte(r.body), &answers); err != nil {
		t.Fatalf("%v in %s", err, r.body)
	}
	if len(answers) != 2 || answers[0].Error != nil || answers[1].ID != "two" || answers[1].Error.Code != -32601 {
		t.Errorf("got %s, want two answers, the second -32601", r.body)
	}
}

func TestStandingStreamEndsWithItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, &mcptest.Server{Name: "a"})
		session := b.open("2025-11-25")
		resp, err := b.send(t.Context(), http.MethodGet, "", "Mcp-Session-Id", session)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		if lines.Scan(); !strings.HasPrefix(lines.Text(), "id: ") {
			t.Errorf("got %q, want an event", lines.Text())
		}
		if lines.Scan(); !strings.Contains(lines.Text(), "stream open on a") {
			t.Errorf("got %q, want the instance's name", lines.Text())
		}
		ended := make(chan struct{})
		go func() {
			for lines.Scan() {
			}
			close(ended)
		}()
		time.Sleep(time.Hour)
		select {
		case <-ended:
			t.Error("the stream ended before its session")
		default:
		}
		if r := b.do(http.MethodDelete, "", "Mcp-Session-Id", session); r.status != http.StatusNoContent {
			t.Errorf("got %d, want 204", r.status)
		}
		<-ended
		if r := b.legacy(session, "ping", ""); r.status != http.StatusNotFound {
			t.Errorf("got %d, want 404", r.status)
		}
	})
}

func TestStatelessServerHasNoStreamsAndNoSessions(t *testing.T) {
	b := newBench(t, &mcptest.Server{Stateless: true})
	if session := b.open("2025-11-25"); session != "" {
		t.Errorf("got session %q, want none", session)
	}
	if r := b.do(http.MethodGet, ""); r.status != http.StatusMethodNotAllowed {
		t.Errorf("got %d, want 405", r.status)
	}
}

func TestLegacyHangupDoesNotCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &mcptest.Server{Stateless: true}
		b := newBench(t, s)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := b.send(ctx, http.MethodPost, body("tools/call", slow(60))); err == nil {
			t.Fatal("got an answer, want a hang-up")
		}
		synctest.Wait()
		if s.Hangups("tools/call") != 0 {
			t.Error("the tool stopped with its client")
		}
		time.Sleep(time.Minute)
		if s.Hangups("tools/call") != 1 {
			t.Error("the tool did not come to its end")
		}
	})
}

func TestSessionKeepsWhatItsClientAskedFor(t *testing.T) {
	s := &mcptest.Server{Name: "a"}
	b := newBench(t, s)
	session := b.open("2025-11-25")
	b.legacy(session, "logging/setLevel", `"level":"error"`)
	b.legacy(session, "resources/subscribe", `"uri":"file:///one"`)
	b.legacy(session, "resources/subscribe", `"uri":"file:///two"`)
	b.legacy(session, "resources/unsubscribe", `"uri":"file:///one"`)
	got := s.Sessions()
	if len(got) != 1 || got[0].Level != "error" || len(got[0].URIs) != 1 || got[0].URIs[0] != "file:///two" || got[0].Initialized {
		t.Errorf("got %+v", got)
	}
}

func TestListOfTasksHasPages(t *testing.T) {
	b := newBench(t, &mcptest.Server{SessionOptional: true, TasksPerPage: 2})
	type list struct {
		Tasks      []task
		NextCursor string
	}
	var want []string
	for range 5 {
		want = append(want, result[struct{ Task task }](t, b.legacy("", "tools/call", slow(60)+`,"task":{}`)).Task.TaskID)
	}
	var got []string
	pages := 0
	for cursor := ""; pages == 0 || cursor != ""; pages++ {
		page := result[list](t, b.legacy("", "tasks/list", fmt.Sprintf(`"cursor":%q`, cursor)))
		for _, task := range page.Tasks {
			got = append(got, task.TaskID)
		}
		cursor = page.NextCursor
	}
	slices.Sort(want)
	slices.Sort(got)
	if pages != 3 || !slices.Equal(got, want) {
		t.Errorf("got %v on %d pages, want %v on 3", got, pages, want)
	}
	if r := b.legacy("", "tasks/list", `"cursor":"none"`); r.code() != -32602 {
		t.Errorf("a cursor that is none: got %v, want -32602", r)
	}
}
