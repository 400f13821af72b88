package proxy_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/wire"
)

// asksAgain is a sender whose tool "greet" wants to be called a second time.
type asksAgain struct {
	mu   sync.Mutex // guards the field below
	sent []string   // to "greet"
}

// Send implements exchange.Sender.
func (s *asksAgain) Send(_ context.Context, request *exchange.Request, _ time.Duration) (*wire.Response, error) {
	answer := answerOf(`"resultType":"complete","content":[]`)
	if request.Header.Get("Mcp-Name") == "greet" && s.note(request.Body) == 1 {
		answer = answerOf(`"resultType":"input_required","requestState":"s"`)
	}
	request.Written = true
	header := new(wire.Header)
	header.Set("Content-Type", "application/json")
	body := io.NopCloser(bytes.NewReader(answer))
	return &wire.Response{Status: wire.StatusOK, Phrase: "OK", Header: header, Body: body, ContentLength: int64(len(answer)), ProtoMajor: 1, ProtoMinor: 1}, nil
}

func (s *asksAgain) note(body []byte) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, string(body))
	return len(s.sent)
}

// Close implements exchange.Sender.
func (*asksAgain) Close() {}

// A request's memory serves the next one, but what its call asks is the task's for as long as that is held.
func TestLaterRoundsAskWhatTheCallAskedWhateverOthersAsk(t *testing.T) {
	sender := new(asksAgain)
	u := newLentUpgradingTo(t, "memory:", sender)
	other := newLentClient("tools/call", "other", `"name":"other","arguments":{"text":"`+strings.Repeat("x", 43)+`"}`)
	serveLent(t, u.Proxy, lentCases["call"]())
	for end := time.Now().Add(time.Minute); u.tasks.Held() > 0; time.Sleep(time.Millisecond) {
		serveLent(t, u.Proxy, other)
		if time.Now().After(end) {
			t.Fatal("the call is held still")
		}
	}
	if len(sender.sent) != 2 || !strings.Contains(sender.sent[1], "the quick brown fox") {
		t.Errorf("the tool was sent %q", sender.sent)
	}
}
