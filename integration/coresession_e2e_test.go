//go:build e2e

package integration

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// coreSession is a session of a legacy client that takes its calls for core tasks. What a
// berth fails to answer it asks another one.
type coreSession struct {
	http  http.Client
	berth func() *watched // any that lives
	user  string          // X-User; "": none
	id    string

	// reply is the result of any question that it is asked; nil: it accepts.
	reply map[string]any
}

// coreMessage is any JSON-RPC message, as far as these tests read it.
type coreMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Meta map[string]struct {
			TaskID string `json:"taskId"`
		} `json:"_meta"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *coreError      `json:"error"`
}

type coreError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Reason          string `json:"reason"`
		MayHaveExecuted *bool  `json:"mayHaveExecuted"`
	} `json:"data"`
}

func (e *coreError) String() string {
	if e == nil {
		return "no error"
	}
	return fmt.Sprintf("%d %s (%s)", e.Code, e.Message, e.Data.Reason)
}

// lost reports whether the task failed because nobody could go on with its call.
func (e *coreError) lost() bool {
	return e != nil && e.Data.Reason == "holder_lost" && e.Data.MayHaveExecuted != nil && *e.Data.MayHaveExecuted
}

// coreTask is what tasks/get says.
type coreTask struct {
	TaskID  string `json:"taskId"`
	Status  string `json:"status"`
	Message string `json:"statusMessage"`
}

const coreVersion = "2025-11-25"

// askedAnewAfter is how long the client waits for one answer: longer than any tool takes.
const askedAnewAfter = 20 * time.Second

// openCore begins a session through any of the berths.
func openCore(t testing.TB, berth func() *watched) *coreSession {
	t.Helper()
	return openCoreAs(t, berth, "")
}

func openCoreAs(t testing.TB, berth func() *watched, user string) *coreSession {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	s := &coreSession{http: http.Client{Transport: transport, Timeout: askedAnewAfter}, berth: berth, user: user}
	s.begin(t, map[string]any{
		"protocolVersion": coreVersion,
		"capabilities":    map[string]any{"elicitation": map[string]any{}, "sampling": map[string]any{}},
		"clientInfo":      map[string]any{"name": "core-session", "version": "1.0.0"},
	})
	s.deliver(t, map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	return s
}

// begin sends initialize until a berth answers it: each time for a session of its own, for
// the answer to one that was begun may have broken off.
func (s *coreSession) begin(t testing.TB, params any) {
	t.Helper()
	var err error
	if !await(t, endsWithin, func() bool {
		s.id = ""
		_, err = s.ask(s.berth(), "initialize", params, nil)
		return err == nil || t.Failed()
	}) {
		t.Errorf("initialize: %v", err)
	}
}

// insist sends a request until a berth answers it with a result or an error of its own.
func (s *coreSession) insist(t testing.TB, method string, params any) coreMessage {
	t.Helper()
	var got coreMessage
	var err error
	if !await(t, endsWithin, func() bool {
		got, err = s.ask(s.berth(), method, params, nil)
		return err == nil || t.Failed()
	}) {
		t.Errorf("%s: %v", method, err)
	}
	return got
}

// deliver posts a notification or a response until a berth takes it.
func (s *coreSession) deliver(t testing.TB, message any) {
	t.Helper()
	var err error
	if !await(t, endsWithin, func() bool {
		_, err = s.post(s.berth(), message, nil)
		return err == nil || t.Failed()
	}) {
		t.Errorf("delivering %v: %v", message, err)
	}
}

// ask sends one request. asked is called with each request that comes before the answer.
func (s *coreSession) ask(b *watched, method string, params any, asked func(coreMessage)) (coreMessage, error) {
	return s.post(b, map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, asked)
}

// errBusy says that a berth has no answer just now.
var errBusy = errors.New("the berth could not say")

func (s *coreSession) post(b *watched, message any, asked func(coreMessage)) (coreMessage, error) {
	body, err := json.Marshal(message)
	if err != nil {
		return coreMessage{}, err
	}
	request, err := http.NewRequest(http.MethodPost, b.url(), bytes.NewReader(body))
	if err != nil {
		return coreMessage{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("Mcp-Protocol-Version", coreVersion)
	if s.id != "" {
		request.Header.Set("Mcp-Session-Id", s.id)
	}
	if s.user != "" {
		request.Header.Set("X-User", s.user)
	}
	response, err := s.http.Do(request)
	if err != nil {
		return coreMessage{}, err
	}
	defer response.Body.Close()
	if id := response.Header.Get("Mcp-Session-Id"); id != "" {
		s.id = id
	}
	answer, err := readAnswer(response, asked)
	if err == nil && answer.Error != nil && answer.Error.Code == codeUnavailable {
		err = fmt.Errorf("%w: %v", errBusy, answer.Error)
	}
	return answer, err
}

// codeUnavailable is of errors after which a client may come again.
const codeUnavailable = -31503

func readAnswer(response *http.Response, asked func(coreMessage)) (answer coreMessage, err error) {
	switch {
	case response.StatusCode == http.StatusAccepted:
		return coreMessage{}, nil
	case response.StatusCode != http.StatusOK:
		text, _ := io.ReadAll(response.Body) // what there is of it
		return coreMessage{}, fmt.Errorf("%w: %d %s", errBusy, response.StatusCode, text)
	case !strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream"):
		return answer, json.NewDecoder(response.Body).Decode(&answer)
	}
	for lines := bufio.NewReader(response.Body); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return coreMessage{}, fmt.Errorf("the stream broke off: %w", err)
		}
		data, ok := bytes.CutPrefix(line, []byte("data: {"))
		if !ok {
			continue
		}
		var m coreMessage
		if err := json.Unmarshal(append([]byte("{"), data...), &m); err != nil {
			return coreMessage{}, err
		}
		switch {
		case m.Method == "":
			return m, nil
		case m.ID != nil && asked != nil:
			asked(m)
		}
	}
}

// make makes a task of a call through a berth.
func (s *coreSession) make(b *watched, tool string, args map[string]any) (taskID string, err error) {
	got, err := s.ask(b, "tools/call", map[string]any{
		"name": tool, "arguments": args, "task": map[string]any{"ttl": 600_000}, "_meta": map[string]any{"progressToken": tool},
	}, nil)
	if err != nil {
		return "", err
	}
	if got.Error != nil {
		return "", fmt.Errorf("refused: %s", got.Error.Message)
	}
	var created struct{ Task coreTask }
	err = json.Unmarshal(got.Result, &created)
	return created.Task.TaskID, err
}

// look is what a berth says of a task.
func (s *coreSession) look(t testing.TB, taskID string) (task coreTask) {
	t.Helper()
	got := s.insist(t, "tasks/get", map[string]any{"taskId": taskID})
	if got.Error != nil {
		t.Errorf("tasks/get: %v", got.Error)
		return task
	}
	if err := json.Unmarshal(got.Result, &task); err != nil {
		t.Error(err)
	}
	return task
}

// settle waits for a task's end, and answers what is asked before it. pause is how long the
// client thinks about an answer.
func (s *coreSession) settle(t testing.TB, taskID string, pause func()) coreMessage {
	t.Helper()
	var end coreMessage
	var err error
	if !await(t, endsWithin, func() bool {
		end, err = s.ask(s.berth(), "tasks/result", map[string]any{"taskId": taskID}, func(m coreMessage) {
			pause()
			s.answer(t, m)
		})
		return err == nil || t.Failed()
	}) {
		t.Errorf("tasks/result of %s: %v", taskID, err)
	}
	return end
}

// answer answers any request of the servers' tools.
func (s *coreSession) answer(t testing.TB, m coreMessage) {
	t.Helper()
	result := s.reply
	if result == nil {
		result = map[string]any{"action": "accept", "content": map[string]any{"confirm": true, "name": "given"}}
	}
	s.deliver(t, map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
}
