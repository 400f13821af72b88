package flow

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"berth/internal/wire"
)

// Who resumes from where an answer begins loses nothing: that is known for as long as no message has come.
func TestAnAnswerOpensBeforeItsFirstMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stream, server := io.Pipe()
		fl := New(t.Context(), nil, nil, nil, []byte("1"), true)
		defer fl.Stop()
		go fl.Run(&wire.Response{Body: stream}, "")
		for _, c := range []struct{ event, want string }{
			{"", ""},
			{"id: a\ndata:\n\n", "a"},
			{"id: b\ndata:\n\n", "b"},
			{"id: c\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n", ""},
		} {
			if _, err := io.WriteString(server, c.event); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if got := fl.Opening(); got != c.want {
				t.Errorf("behind %q: got %q, want %q", c.event, got, c.want)
			}
		}
	})
}

// A server may end its stream without the empty line that ends the response's event.
func TestAnAnswerWhoseEventIsNotEndedHasCome(t *testing.T) {
	for end, comes := range map[string]bool{"": true, "\n": true, "x": false} {
		synctest.Test(t, func(t *testing.T) {
			fl := New(t.Context(), nil, nil, nil, []byte("1"), false)
			defer fl.Stop()
			go fl.Run(&wire.Response{Body: io.NopCloser(strings.NewReader(`data: {"jsonrpc":"2.0","id":1,"result":{}}` + end))}, "")
			if it := <-fl.Items; (it.Message != nil) != comes {
				t.Errorf("behind %q: got %q, %v", end, it.Message, it.Err)
			}
		})
	}
}
