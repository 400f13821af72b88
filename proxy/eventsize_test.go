package proxy_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"berth/proxy"
)

const answerLimit = 1 << 20

func withAnswerLimit(o *proxy.Options) { o.Limits.Answer = answerLimit }

// jsonAnswer is an answer of so many bytes.
func jsonAnswer(size int) string {
	const begin, end = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"`, `"}]}}`
	return begin + strings.Repeat("x", size-len(begin)-len(end)) + end
}

// TestAnswerThatIsTooLargeIsRefused: one that says so before a byte of it came; one that
// turns out to be is broken off. Either way nobody reads on upstream.
func TestAnswerThatIsTooLargeIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		size     int
		declared bool
		status   int // 0: broken off
	}{
		"just fits":                      {answerLimit, true, 200},
		"just fits, of unknown length":   {answerLimit, false, 200},
		"too large":                      {answerLimit + 1, true, 502},
		"too large, of unknown length":   {answerLimit + 1, false, 0},
		"much too large, of no length":   {64 * answerLimit, false, 0},
		"much too large, and it says so": {64 * answerLimit, true, 502},
	} {
		t.Run(name, func(t *testing.T) {
			f := newRig(t, rigOptions{tcp: true, size: 1, options: withAnswerLimit})
			ended := make(chan error, 1)
			f.servers[0].inject(func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
				w.Header().Set("Content-Type", jsonType)
				if c.declared {
					w.Header().Set("Content-Length", strconv.Itoa(c.size))
				}
				_, err := io.WriteString(w, jsonAnswer(c.size))
				ended <- err
				return true
			})
			resp := f.open(f.call("modern"))
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			switch {
			case c.status == 0 && err == nil:
				t.Errorf("%d bytes arrived as if they were all", len(body))
			case c.status == 200 && (err != nil || len(body) != c.size):
				t.Errorf("%d bytes arrived, %v, want %d", len(body), err, c.size)
			case c.status == 502:
				reply{resp.StatusCode, resp.Header, string(body)}.fails(t, 502, -32603, "answer_too_large", false)
			}
			if len(body) > answerLimit {
				t.Errorf("%d bytes arrived, limit %d", len(body), answerLimit)
			}
			if err := <-ended; c.size > 32*answerLimit && err == nil {
				t.Error("the upstream could write all of it")
			}
		})
	}
}

// TestEventThatIsTooLargeEndsItsStream: the stream as a whole may be of any size.
func TestEventThatIsTooLargeEndsItsStream(t *testing.T) {
	f := newRig(t, rigOptions{tcp: true, size: 1, options: withAnswerLimit})
	small := "data: " + jsonAnswer(answerLimit/2) + "\n\n"
	f.servers[0].inject(streams(func(_ context.Context, write func(string)) {
		for range 4 {
			write(small)
		}
		write("data: " + jsonAnswer(2*answerLimit) + "\n\n")
		write(doneEvent)
	}))
	resp := f.open(f.call("modern"))
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v, want a stream that broke off", err)
	}
	if n := len(body); n < 4*len(small) || n > 4*len(small)+answerLimit {
		t.Errorf("%d bytes arrived, want four events of %d and a part", n, len(small))
	}
}

// TestEventThatIsTooLargeFromTheStartIsReplaced: while nothing of it was released, an
// error can still take its place.
func TestEventThatIsTooLargeFromTheStartIsReplaced(t *testing.T) {
	f := newRig(t, rigOptions{size: 1, options: func(o *proxy.Options) { o.Limits.Answer = 10 << 10 }})
	f.servers[0].inject(streams(func(_ context.Context, write func(string)) {
		write("data: " + jsonAnswer(20<<10) + "\n\n")
	}))
	m := f.do(f.call("modern")).message(t)
	if m.Error == nil || m.Error.Data.Reason != "answer_too_large" {
		t.Errorf("got %+v, want an error that says so", m)
	}
}
