package stdio

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/exchange/exchangetest"
	"berth/internal/wire"
)

func shared(o *Options, _ *timing) { o.Isolation = IsolateAll }

func TestIDsOfTwoClientsDoNotMeet(t *testing.T) {
	r := newRig(t, "server", shared)
	a, b := r.open("a"), r.open("b")
	var running sync.WaitGroup
	for _, c := range []*client{a, b} {
		for _, id := range []string{"7", `"7"`} {
			running.Go(func() {
				for range 20 {
					answers := c.begin(id, "echo", c.session)
					message := answers.message()
					if !strings.Contains(message, `"id":`+id+",") || !strings.Contains(message, c.session) {
						t.Errorf("got %s, want id %s of %s", message, id, c.session)
					}
				}
			})
		}
	}
	running.Wait()
}

func TestTokensOfTwoClientsDoNotMeet(t *testing.T) {
	r := newRig(t, "server", shared)
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"a":1, "progressToken" : "same","b":2},"name":"progress"}}`
	for _, c := range []*client{r.open("a"), r.open("b")} {
		answers := c.stream(c.post(body))
		for range 3 {
			if m := answers.message(); !strings.Contains(m, `"progressToken":"same"`) {
				t.Errorf("got %s, want the client's token", m)
			}
		}
		if got := answers.text(); got != "done" {
			t.Errorf("got %q", got)
		}
	}
	identity := r.open("c").stream(r.open("c").post(strings.Replace(body, `"progress"}`, `"identity"}`, 1))).text()
	if id, token, _ := strings.Cut(identity, " "); id != token || id == "1" {
		t.Errorf("got id and token %q, want one number of berth's", identity)
	}
}

func TestCancelledCallEnds(t *testing.T) {
	r := newRig(t, "server", func(_ *Options, t *timing) { t.cancel = 20 * time.Millisecond })
	c := r.open("")
	hanging := c.begin(`"h"`, "hang", "")
	hanging.message()
	c.tell(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"h"}}`)
	if got := hanging.text(); got != "error: the client cancelled the call" {
		t.Errorf("got %q", got)
	}
	if got := c.call("heard", ""); got != "notifications/initialized notifications/cancelled 1" {
		t.Errorf("the process heard %q, want its own id of the call", got)
	}
}

func TestCancellationOfAnothersCallIsDropped(t *testing.T) {
	r := newRig(t, "server", shared)
	a, b := r.open("a"), r.open("b")
	hanging := a.begin("1", "ask", "")
	question := hanging.message()
	b.tell(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	b.tell(`{"jsonrpc":"2.0","id":` + idOf(t, question) + `,"result":{"action":"accept"}}`)
	if got := b.call("heard", ""); strings.Contains(got, "cancelled") {
		t.Errorf("the process heard %q", got)
	}
	a.tell(`{"jsonrpc":"2.0","id":` + idOf(t, question) + `,"result":{"action":"decline"}}`)
	if got := hanging.text(); got != `1: {"action":"decline"}` {
		t.Errorf("got %q, want its own client's answer", got)
	}
}

func TestAnswerInAnyShapeIsTheCalls(t *testing.T) {
	c := newRig(t, "garbled").open("")
	for _, name := range []string{"batch", "carriage"} {
		if got := c.begin("1", name, "").text(); got != "" {
			t.Errorf("%s: got %q", name, got)
		}
	}
	if got := strings.Count(c.log.String(), "no message"); got != 1 {
		t.Errorf("what is no message was logged %d times", got)
	}
	pretty := "{\n \"jsonrpc\": \"2.0\",\r\n \"id\": 1,\n \"method\": \"tools/call\",\n \"params\": {\"name\": \"echo\", \"arguments\": {\"text\": \"a\\nb\"}}\n}"
	if got := c.stream(c.post(pretty)).text(); got != "a\nb" {
		t.Errorf("of a request on several lines: got %q", got)
	}
}

func TestBatchIsAnsweredOnOneStream(t *testing.T) {
	r := newRig(t, "server")
	c := r.open("")
	request := c.request(wire.MethodPost, c.session, "", "["+tool("1", "echo", "one")+","+tool("2", "echo", "two")+`,{"jsonrpc":"2.0","method":"notifications/initialized"}]`)
	request.Header.Set("Mcp-Protocol-Version", "2025-03-26")
	answers := c.stream(r.reach(request))
	both := answers.message() + answers.message()
	if _, more := answers.next(); more || !strings.Contains(both, "one") || !strings.Contains(both, "two") {
		t.Errorf("got %s", both)
	}
}

func TestWaitBoundsHeadersOnly(t *testing.T) {
	r := newRig(t, "silent")
	_, err := r.Send(context.Background(), r.request(wire.MethodPost, "", "", opening), 10*time.Millisecond)
	var failed *exchange.SendError
	if !errors.As(err, &failed) || !failed.TimedOut || !failed.Sent || failed.Refused {
		t.Fatalf("initialize: got %v, want a time-out", err)
	}
	c := newRig(t, "server").open("")
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	response, err := c.Send(ctx, c.request(wire.MethodPost, c.session, "", tool("1", "ask", "")), time.Millisecond)
	if err != nil {
		t.Fatalf("tools/call: %v", err)
	}
	asking := c.stream(response)
	question := asking.message()
	c.tell(`{"jsonrpc":"2.0","id":` + idOf(t, question) + `,"result":{}}`)
	if got := asking.text(); got != "1: {}" {
		t.Errorf("got %q", got)
	}
}

// An npx that loads its package takes longer than a client's patience: with each attempt begun
// anew, none would ever get there.
func TestSecondInitializeFindsTheProcessOfTheFirst(t *testing.T) {
	r := newRig(t, "slow")
	for tries := 1; ; tries++ {
		response, err := r.Send(context.Background(), r.request(wire.MethodPost, "", "", opening), 50*time.Millisecond)
		if err == nil {
			response.Body.Close()
			break
		}
		if tries == 200 {
			t.Fatal("never answered")
		}
	}
	if got := r.processes(); got != 1 {
		t.Errorf("got %d processes, want 1", got)
	}
}

func TestEndOfTheContextEndsTheExchangeAndNotTheCall(t *testing.T) {
	c := newRig(t, "server").open("")
	ctx, cancel := context.WithCancelCause(context.Background())
	response, err := c.Send(ctx, c.request(wire.MethodPost, c.session, "", tool("1", "ask", "")), 0)
	if err != nil {
		t.Fatalf("Send: %v", err)
	}
	asking := c.stream(response)
	question := asking.message()
	gone := errors.New("gone")
	cancel(gone)
	if _, err := asking.reader.Next(); !errors.Is(err, gone) {
		t.Errorf("got %v, want the context's cause", err)
	}
	c.tell(`{"jsonrpc":"2.0","id":` + idOf(t, question) + `,"result":{"action":"accept"}}`)
	if got := c.listen(asking.last).text(); got != `1: {"action":"accept"}` {
		t.Errorf("resumed: got %q", got)
	}
}

func TestCallsInFlightAreBounded(t *testing.T) {
	c := newRig(t, "server").open("")
	for range maxCalls {
		c.begin("1", "hang", "").close()
	}
	response := c.post(tool("1", "echo", ""))
	if _, reason, _ := failure(t, exchangetest.ReadAll(t, response)); response.Status != 503 || reason != ReasonProcessBusy || !response.Unasked {
		t.Errorf("got %d %s, unasked %v", response.Status, reason, response.Unasked)
	}
	c.tell(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
}
