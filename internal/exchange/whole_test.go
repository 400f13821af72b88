package exchange

import (
	"errors"
	"io"
	"strings"
	"testing"

	"berth/internal/wire"
)

func TestOfAWholeAnswerTheResponseIsRead(t *testing.T) {
	const answer = `{"jsonrpc":"2.0","id":1,"result":{}}`
	long := `{"id":1,"result":"` + strings.Repeat("x", 20<<10) + `"}`
	stream := "id: 1\ndata:\n\n: comment\n\ndata: {\"method\":\"notifications/progress\"}\n\nevent: message\ndata: " + answer + "\n\n"
	for name, c := range map[string]struct {
		kind, body, want string
		err              error
	}{
		"JSON":                      {"application/json", answer, answer, nil},
		"neither":                   {"text/plain", "no", "no", nil},
		"JSON, too long":            {"application/json", long, "", ErrTooLong},
		"events":                    {"text/event-stream", stream, answer, nil},
		"events, no response":       {"text/event-stream", ": comment\n\n", "", ErrNoResponse},
		"events, too long":          {"text/event-stream", "data: " + long + "\n\n", "", ErrTooLong},
		"events, broken off":        {"text/event-stream", "data: " + answer[:len(answer)-1] + "\n", "", ErrNoResponse},
		"events, whole but its end": {"text/event-stream", "data: " + answer, answer, nil},
		"events, a long rest":       {"text/event-stream", "data: " + answer + "\n\ndata: " + long, answer, nil},
		"JSON that is no object":    {"application/json", "[]", "[]", nil},
	} {
		response := &wire.Response{Header: wire.NewHeader("Content-Type", c.kind), Body: io.NopCloser(strings.NewReader(c.body))}
		got, err := ReadWhole(response, []byte("1"), 8<<10, func() {})
		if string(got) != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: got %.99q, %v, want %q, %v", name, got, err, c.want, c.err)
		}
	}
}
