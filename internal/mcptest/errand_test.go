package mcptest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcptest"
)

func errand(arguments string) string {
	return fmt.Sprintf(`"name":"errand","arguments":{"label":"job",%s},"_meta":{"progressToken":"p"}`, arguments)
}

// A tap is an event stream that is read as it comes.
type tap struct {
	t    *testing.T
	resp *http.Response
	in   *bufio.Reader
	last string // event id
}

// stream makes a request in a session that is answered on a stream.
func (b *bench) stream(ctx context.Context, method, body, session string, header ...string) *tap {
	b.t.Helper()
	header = append(header, "Mcp-Session-Id", session, "MCP-Protocol-Version", "2025-11-25")
	resp, err := b.send(ctx, method, body, header...)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		b.t.Fatalf("got %d, want a stream", resp.StatusCode)
	}
	return &tap{t: b.t, resp: resp, in: bufio.NewReader(resp.Body)}
}

// A said is one message of the server.
type said struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Progress  int
		Data      string
		RequestID json.RawMessage
	}
	Result *toolResult
	Error  *struct{ Code int }
}

// next returns the next message, and what ended the stream if there is none.
func (p *tap) next() (m said, err error) {
	for {
		line, err := p.in.ReadString('\n')
		if err != nil {
			return m, err
		}
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			p.last = strings.TrimSpace(id)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok && strings.TrimSpace(data) != "" {
			return m, json.Unmarshal([]byte(data), &m)
		}
	}
}

// until skips messages until one is of that method; "" is the response.
func (p *tap) until(method string) said {
	p.t.Helper()
	for {
		m, err := p.next()
		if err != nil {
			p.t.Fatalf("the stream ended without %q: %v", method, err)
		}
		if m.Method == method {
			return m
		}
	}
}

func TestErrandAsksInMidCall(t *testing.T) {
	tests := map[string]struct {
		arguments string
		asks      []string
		want      string
	}{
		"one":             {`"asks":["elicitation"]`, []string{"elicitation/create"}, `[{"n":0}]`},
		"one after other": {`"asks":["elicitation","sampling"]`, []string{"elicitation/create", "sampling/createMessage"}, `[{"n":0},{"n":1}]`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &mcptest.Server{Name: "a", Errands: true, Taskless: true}
				b := newBench(t, s)
				session := b.open("2025-11-25")
				tap := b.stream(t.Context(), http.MethodPost, body("tools/call", errand(test.arguments)), session)
				for n, method := range test.asks {
					asked := tap.until(method)
					b.answer(session, string(asked.ID), fmt.Sprintf(`"result":{"n":%d}`, n))
				}
				got := tap.until("")
				if answers, _ := json.Marshal(got.Result.StructuredContent.Answers); string(answers) != test.want {
					t.Errorf("got %s, want %s", answers, test.want)
				}
				if s.ExecutionsOf("job") != 1 {
					t.Errorf("got %d executions, want 1", s.ExecutionsOf("job"))
				}
			})
		})
	}
}

// answer posts a client's response.
func (b *bench) answer(session, id, outcome string) {
	b.t.Helper()
	r := b.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, id, outcome), "Mcp-Session-Id", session)
	if r.status != http.StatusAccepted {
		b.t.Errorf("answer: got %d %s, want 202", r.status, r.body)
	}
}

func TestErrandAsksTwoAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, &mcptest.Server{Name: "a", Errands: true})
		session := b.open("2025-11-25")
		tap := b.stream(t.Context(), http.MethodPost, body("tools/call", errand(`"asks":["elicitation","sampling"],"at_once":true`)), session)
		first, second := tap.until("elicitation/create"), tap.until("sampling/createMessage")
		b.answer(session, string(second.ID), `"error":{"code":-1,"message":"no"}`)
		b.answer(session, string(first.ID), `"result":{}`)
		answers, _ := json.Marshal(tap.until("").Result.StructuredContent.Answers)
		if want := `[{},{"code":-1,"message":"no"}]`; string(answers) != want {
			t.Errorf("got %s, want %s", answers, want)
		}
	})
}

func TestErrandLosesPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, &mcptest.Server{Name: "a", Errands: true})
		session := b.open("2025-11-25")
		tap := b.stream(t.Context(), http.MethodPost, body("tools/call", errand(`"asks":["elicitation"],"patience":5`)), session)
		asked := tap.until("elicitation/create")
		if gone := tap.until("notifications/cancelled"); string(gone.Params.RequestID) != string(asked.ID) {
			t.Errorf("got %s withdrawn, want %s", gone.Params.RequestID, asked.ID)
		}
		answers, _ := json.Marshal(tap.until("").Result.StructuredContent.Answers)
		if string(answers) != `["timed out"]` {
			t.Errorf("got %s, want a time-out", answers)
		}
		b.answer(session, string(asked.ID), `"result":{}`) // late, and accepted
	})
}

func TestErrandEndsAsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, &mcptest.Server{Name: "a", Errands: true})
		session := b.open("2025-11-25")
		tap := b.stream(t.Context(), http.MethodPost, body("tools/call", errand(`"ends":"tool_error"`)), session)
		if m := tap.until(""); m.Result == nil || !m.Result.IsError {
			t.Errorf("got %+v, want isError", m)
		}
		tap = b.stream(t.Context(), http.MethodPost, body("tools/call", errand(`"ends":"protocol_error"`)), session)
		if m := tap.until(""); m.Error == nil || m.Error.Code != -32603 {
			t.Errorf("got %+v, want -32603", m)
		}
	})
}

func TestCancelledNotificationEndsAnErrand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &mcptest.Server{Name: "a", Errands: true}
		b := newBench(t, s)
		session := b.open("2025-11-25")
		tap := b.stream(t.Context(), http.MethodPost, body("tools/call", errand(`"seconds":3600`)), session)
		tap.until("notifications/progress")
		b.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`, "Mcp-Session-Id", session)
		if synctest.Wait(); s.Cancelled() != 0 {
			t.Error("the call was ended by another's id")
		}
		b.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, "Mcp-Session-Id", session)
		if synctest.Wait(); s.Cancelled() != 1 {
			t.Error("the call goes on")
		}
	})
}

func TestSessionTakesItsErrandsAlong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, &mcptest.Server{Name: "a", Errands: true})
		session := b.open("2025-11-25")
		tap := b.stream(t.Context(), http.MethodPost, body("tools/call", errand(`"seconds":3600`)), session)
		tap.until("notifications/progress")
		start := time.Now()
		b.do(http.MethodDelete, "", "Mcp-Session-Id", session)
		for {
			m, err := tap.next()
			if err == io.EOF {
				break
			}
			if err != nil || m.Result != nil {
				t.Fatalf("got %+v, %v, want the end of the stream", m, err)
			}
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("took %v", took)
		}
	})
}

func TestCutStreamIsResumedWhereItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &mcptest.Server{Name: "a", Errands: true, Resumable: true}
		b := newBench(t, s)
		session := b.open("2025-11-25")
		tap := b.stream(t.Context(), http.MethodPost, body("tools/call", errand(`"seconds":10`)), session)
		tap.until("notifications/progress")
		tap.until("notifications/progress")
		if n := s.CutStreams(); n != 1 {
			t.Fatalf("cut %d streams, want 1", n)
		}
		if _, err := drain(tap); err == io.EOF {
			t.Error("the stream ended as it should, want it cut")
		}
		time.Sleep(3 * time.Second)
		again := b.stream(t.Context(), http.MethodGet, "", session, "Last-Event-ID", tap.last)
		steps, err := drain(again)
		if err != io.EOF || !slices.Equal(steps, []int{2, 3, 4, 5, 6, 7, 8, 9}) {
			t.Errorf("got steps %v, %v, want the eight that were left", steps, err)
		}
		if s.ExecutionsOf("job") != 1 || s.Resumed() != 1 {
			t.Errorf("got %d executions, %d resumptions, want 1, 1", s.ExecutionsOf("job"), s.Resumed())
		}
	})
}

// drain reads to the end: the steps that were told, and what ended the stream.
func drain(p *tap) (steps []int, err error) {
	for {
		m, err := p.next()
		if err != nil {
			return steps, err
		}
		if m.Method == "notifications/progress" {
			steps = append(steps, m.Params.Progress)
		}
	}
}

func TestStreamThatStandsIsNotResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, &mcptest.Server{Name: "a", Errands: true, Resumable: true})
		session := b.open("2025-11-25")
		ctx, cancel := context.WithCancel(t.Context())
		tap := b.stream(ctx, http.MethodPost, body("tools/call", errand(`"seconds":10`)), session)
		tap.until("notifications/progress")
		resume := func(id string) int {
			resp, err := b.send(t.Context(), http.MethodGet, "", "Mcp-Session-Id", session, "Last-Event-ID", id)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			return resp.StatusCode
		}
		if got := resume(tap.last); got != http.StatusConflict {
			t.Errorf("while it stands: got %d, want 409", got)
		}
		if got := resume("nothing_0"); got != http.StatusBadRequest {
			t.Errorf("of no stream: got %d, want 400", got)
		}
		cancel()
		synctest.Wait()
		if got := resume(tap.last); got != http.StatusOK {
			t.Errorf("afterwards: got %d, want 200", got)
		}
	})
}

func TestPlannedCloseKeepsWhatFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, &mcptest.Server{Name: "a", Errands: true, Resumable: true, Retry: 700 * time.Millisecond})
		session := b.open("2025-11-25")
		r := b.post(body("tools/call", errand(`"seconds":10,"hang_up":3`)), "Mcp-Session-Id", session)
		if !strings.Contains(r.body, "_0\nretry: 700\ndata: \n") {
			t.Errorf("got %s, want a priming event that says how long to wait", r.body)
		}
		if strings.Contains(r.body, "step 4") || !strings.Contains(r.body, "step 3") {
			t.Errorf("got %s, want three steps", r.body)
		}
		last := r.body[strings.LastIndex(r.body, "id: ")+4:]
		last, _, _ = strings.Cut(last, "\n")
		steps, err := drain(b.stream(t.Context(), http.MethodGet, "", session, "Last-Event-ID", last))
		if err != io.EOF || !slices.Equal(steps, []int{3, 4, 5, 6, 7, 8, 9}) {
			t.Errorf("got steps %v, %v, want those that follow", steps, err)
		}
	})
}

func TestTasklessServerKnowsNoTasks(t *testing.T) {
	s := &mcptest.Server{Name: "a", Taskless: true}
	b := newBench(t, s)
	r := b.post(body("initialize", `"protocolVersion":"2025-11-25"`))
	session := r.header.Get("Mcp-Session-Id")
	if strings.Contains(r.body, "tasks") {
		t.Errorf("got %s, want no tasks", r.body)
	}
	if r := b.legacy(session, "tools/list", ""); strings.Contains(r.body, "taskSupport") || strings.Contains(r.body, "errand") {
		t.Errorf("got %s, want plain tools", r.body)
	}
	if r := b.legacy(session, "tools/call", slow(0)+`,"task":{}`); !strings.Contains(r.body, "computed on a") {
		t.Errorf("got %s, want the result itself", r.body)
	}
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/list", "tasks/cancel"} {
		if r := b.legacy(session, method, byID("x")); r.code() != -32601 {
			t.Errorf("%s: got %s, want -32601", method, r.body)
		}
	}
}
