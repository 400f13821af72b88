package mcp

import "testing"

func TestErrorResponse(t *testing.T) {
	const want = `{"jsonrpc":"2.0","id":"x","error":{"code": 1.0}}`
	if got := string(ErrorResponse([]byte(`"x"`), []byte(`{"code": 1.0}`))); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWithCancelledID(t *testing.T) {
	const message, want = `{ "params":{"reason":"requestId","requestId":"a"} ,"method":"x"}`, `{ "params":{"reason":"requestId","requestId":17} ,"method":"x"}`
	if got := WithCancelledID([]byte(message), []byte("17")); string(got) != want {
		t.Errorf("got %s", got)
	}
}

func TestCursorIn(t *testing.T) {
	for result, want := range map[string]string{`{"nextCursor":"c"}`: "c", `{"nextCursor":5}`: "", `{}`: ""} {
		if got := CursorIn([]byte(result)); got != want {
			t.Errorf("%s: got %q", result, got)
		}
	}
}
