package outbound

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"berth/internal/wire"
)

// An event that breaks off with its stream did not come: neither its message nor its id
// counts, or the stream would be resumed behind it. A response that is whole has come.
func TestHeldAnswerThatBreaksOffInAnEvent(t *testing.T) {
	const first = "id: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n"
	for name, rest := range map[string]string{
		"in its id":       "id: 2",
		"before its data": "id: 23\n",
		"in its data":     "id: 23\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"res",
		"before its end":  "id: 23\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n",
	} {
		for _, end := range []error{io.EOF, io.ErrUnexpectedEOF} {
			t.Run(name+", "+end.Error(), func(t *testing.T) {
				body := io.MultiReader(strings.NewReader(first+rest), iotest.ErrReader(end))
				answer := NewHeldAnswer(t.Context(), &wire.Response{Status: wire.StatusOK, Header: wire.NewHeader("Content-Type", "text/event-stream")}, body, 1<<20, nil)
				m, err := answer.Next()
				if err != nil || m.Event != "1" || m.Data == nil {
					t.Fatalf("got %+v, %v", m, err)
				}
				if m, err = answer.Next(); !errors.Is(err, end) || m.Event != "" || m.Data != nil {
					t.Errorf("got %+v, %v, want %v", m, err, end)
				}
			})
		}
	}
}

// An id that fits in no request is none: the stream is resumed from the one before.
func TestHeldAnswerWithUnusableEventIDs(t *testing.T) {
	for id, want := range map[string]string{
		"a b/\u00e9": "a b/\u00e9", strings.Repeat("i", maxEventID): strings.Repeat("i", maxEventID),
		strings.Repeat("i", maxEventID+1): "", "\x01": "", "a\x7f": "",
	} {
		response := &wire.Response{Status: wire.StatusOK, Header: wire.NewHeader("Content-Type", "text/event-stream")}
		answer := NewHeldAnswer(t.Context(), response, strings.NewReader("id: "+id+"\ndata: {}\n\n"), 1<<20, nil)
		if m, err := answer.Next(); err != nil || m.Event != want || string(m.Data) != "{}" {
			t.Errorf("%.10q: got %.10q, %v", id, m.Event, err)
		}
	}
}

// A server may end its stream without the empty line that ends the response's event: the tool has run, and its answer is whole.
func TestHeldAnswerWhoseLastEventIsNotEnded(t *testing.T) {
	const answer = `{"jsonrpc":"2.0","id":1,"result":{}}`
	for _, text := range []string{"data: " + answer, "data: " + answer + "\n", "id: 2\r\ndata: " + answer + "\r\n"} {
		for _, end := range []error{io.EOF, io.ErrUnexpectedEOF} {
			body := io.MultiReader(strings.NewReader(text), iotest.ErrReader(end))
			held := NewHeldAnswer(t.Context(), &wire.Response{Status: wire.StatusOK, Header: wire.NewHeader("Content-Type", "text/event-stream")}, body, 1<<20, nil)
			event, err := held.Event()
			if err != nil || string(event.Data) != answer || !strings.HasSuffix(string(event.Raw), answer+"\n\n") {
				t.Errorf("%q, %v: got %q, %v", text, end, event.Raw, err)
			}
			if _, err := held.Next(); !errors.Is(err, end) {
				t.Errorf("%q, %v: then %v", text, end, err)
			}
		}
	}
}
