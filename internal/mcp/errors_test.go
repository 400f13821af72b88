package mcp

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestErrorBodies(t *testing.T) {
	for name, tc := range map[string]struct {
		err  *Error
		id   string
		want string
	}{
		"without an id": {errParse(), "", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"the body is not one JSON value in UTF-8"}}`},
		"with a reason": {errInvalid("no", "duplicate_key"), `"a"`,
			`{"jsonrpc":"2.0","id":"a","error":{"code":-32600,"message":"no","data":{"reason":"duplicate_key","retryable":false}}}`},
		"retryable": {&Error{Code: CodeUnavailable, Message: "no", Reason: ReasonOverloaded, RetryAfter: 1500 * time.Millisecond}, "12345678901234567890",
			`{"jsonrpc":"2.0","id":12345678901234567890,"error":{"code":-31503,"message":"no","data":{"reason":"overloaded","retryable":true,"retryAfterMs":1500}}}`},
		"data of its own": {ErrMissingTasks, "1.50",
			`{"jsonrpc":"2.0","id":1.50,"error":{"code":-32021,"message":"Missing required client capability","data":{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`},
		"unknown task": {ErrUnknownTask, "1", `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Task not found"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			var id []byte
			if tc.id != "" {
				id = []byte(tc.id)
			}
			if got := string(tc.err.Body(id)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestErrorObjectIsThatOfTheBody(t *testing.T) {
	for want, e := range map[string]*Error{
		`{"code":-32603,"message":"gone","data":{"reason":"holder_lost","retryable":false,"mayHaveExecuted":true,"outcome":"unknown"}}`:                       {Code: CodeInternal, Message: "gone", Reason: ReasonHolderLost, Outcome: Unknown},
		`{"code":-32603,"message":"over","data":{"reason":"shutdown","retryable":true,"retryAfterMs":1000,"mayHaveExecuted":false,"outcome":"not_executed"}}`: {Code: CodeInternal, Message: "over", Reason: ReasonShutdown, RetryAfter: time.Second, Outcome: NotExecuted},
		`{"code":-32602,"message":"Task not found"}`: ErrUnknownTask,
	} {
		if got := string(e.Object()); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := string(ErrorObject(e.Body([]byte("1")))); got != want {
			t.Errorf("in a body %s\nwant      %s", got, want)
		}
	}
}

// Whatever an id that Peek lets through looks like, an error can be worded for it.
func TestErrorBodiesBearAnyID(t *testing.T) {
	for _, id := range []string{`"<&>\u2028"`, `"\ud800"`, `-1e999`, `"` + strings.Repeat("x", 1<<20) + `"`} {
		body := ErrUnknownTask.Body([]byte(id))
		var got, want struct{ ID any }
		if err := json.Unmarshal([]byte(`{"id":`+quoteNumber(id)+`}`), &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(strings.Replace(string(body), id, quoteNumber(id), 1)), &got); err != nil || got != want {
			t.Errorf("id %.40s: got %.200s (%v)", id, body, err)
		}
	}
}

// quoteNumber makes a number that no float64 holds comparable as text.
func quoteNumber(id string) string {
	if id[0] == '"' {
		return id
	}
	return `"` + id + `"`
}

func TestErrorsOfOurOwnLieOutsideTheReservedRange(t *testing.T) {
	for _, code := range []int{CodeUnavailable, CodeTimeout} {
		if code >= -32768 && code <= -32000 {
			t.Errorf("%d is reserved by JSON-RPC and MCP", code)
		}
	}
}
