package legacyface

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/exchange/exchangetest"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// Clients may give two calls one id, and answers come in any order.
func TestIDsAreTheFacesOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newRig(t, Options{}).open()
		first, second := c.Later(request(`"a"`, "tools/list", `"n":1`)), c.Later(request(`"a"`, "tools/list", `"n":2`))
		said := c.conn.heard()
		one, two := idOf(t, said, `"n":1`), idOf(t, said, `"n":2`)
		if one == two || len(said) != 2 {
			t.Fatalf("the server was told %q", said)
		}
		c.conn.hear(result(two, "second"))
		c.conn.hear(result(one, "first"))
		for text, done := range map[string]<-chan *wire.Response{"first": first, "second": second} {
			response := <-done
			if got := exchangetest.ReadAll(t, response); got != result(`"a"`, text) || response.Header.Get("Content-Type") != "application/json" {
				t.Errorf("got %s, want %s", got, text)
			}
		}
	})
}

// A call has a stream, from its priming event to its response, and nothing of another one's.
func TestACallIsAnsweredByAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newRig(t, Options{}).open()
		one := eventsOf(t, c.post(request("7", "tools/call", `"n":1,"_meta":{"progressToken":"p"}`)))
		other := eventsOf(t, c.post(request("8", "tools/call", `"n":2,"_meta":{"progressToken":8}`)))
		said := c.conn.heard()
		progress := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}`
		question := request("0", "elicitation/create", "")
		c.conn.hear(progress)
		c.conn.hear(question)
		c.conn.hear(result(idOf(t, said, `"n":1`), "one\\n"))
		c.conn.hear(`[` + result(idOf(t, said, `"n":2`), "two") + `]`)
		one.wants("", progress, result("7", "one\\n"), "EOF")
		other.wants("", question, result("8", "two"), "EOF")
		if one.id == "" || one.id == other.id {
			t.Errorf("events are called %q and %q", one.id, other.id)
		}
	})
}

// Clients before 2025-11-25 take an event with empty data for a broken message.
func TestPrimingIsAsTheVersionHasIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{})
		r.mute = true
		c := r.client()
		opened := c.Later(opens)
		synctest.Wait()
		c.conn = r.conns[0]
		c.conn.hear(`{"jsonrpc":"2.0","id":` + idOf(t, c.conn.heard(), "initialize") + `,"result":{"protocolVersion":"2024-11-05"}}`)
		c.Session = (<-opened).Header.Get(mcp.HeaderSession)
		response := c.post(request("1", "tools/call", ""))
		c.conn.hear(result(idOf(t, c.conn.heard(), "tools/call"), "x"))
		if got := exchangetest.ReadAll(t, response); !strings.HasPrefix(got, "id: 2-0\n\nid: 2-1\ndata: {") {
			t.Errorf("got %s", got)
		}
	})
}

// Who does not take streams gets JSON.
func TestACallWithoutAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newRig(t, Options{}).open()
		done := make(chan *wire.Response, 1)
		go func() { done <- c.post(request("1", "tools/call", ""), "Accept", "application/json") }()
		c.conn.hear(result(idOf(t, c.conn.heard(), "tools/call"), "x"))
		if got := exchangetest.ReadAll(t, <-done); got != result("1", "x") {
			t.Errorf("got %s", got)
		}
	})
}

func TestACancelledCallEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newRig(t, Options{}).open()
		call := eventsOf(t, c.post(request("7", "tools/call", "")))
		own := idOf(t, c.conn.heard(), "tools/call")
		cancelled := func(id string) string {
			return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"r"}}`
		}
		for _, id := range []string{"7", "7", "99"} {
			if got := c.status(wire.MethodPost, cancelled(id)); got != wire.StatusAccepted {
				t.Errorf("%s: got %d", id, got)
			}
		}
		if said := c.conn.heard(); len(said) != 1 || said[0] != cancelled(own) {
			t.Errorf("the server was told %q", said)
		}
		c.conn.hear(result(own, "late"))
		call.wants("")
		if code, _ := failure(t, call.next()); code != mcp.CodeInternal {
			t.Errorf("got code %d", code)
		}
		call.wants("EOF")
	})
}

// A client that hangs up cancels nothing, also before there is an answer.
func TestAHangUpIsNoCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{})
		c := r.open()
		c.post(request("1", "tools/call", "")).Body.Close()
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		failed := make(chan error, 1)
		go func() {
			_, err := c.Send(ctx, wire.MethodPost, request("2", "tools/list", ""), 0)
			failed <- err
		}()
		synctest.Wait()
		cancel(gone)
		if send, ok := errors.AsType[*exchange.SendError](<-failed); !ok || !send.Sent || !errors.Is(send, gone) {
			t.Errorf("got %v", send)
		}
		if said := c.conn.heard(); len(said) != 2 || c.conn.isClosed() {
			t.Errorf("the server was told %q", said)
		}
	})
}

// A session that ends while it is asked for is none, also where nobody hears what the server would have said.
func TestASessionThatEndsWhileItIsAskedForIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{})
		c := r.open()
		closed := make(chan struct{})
		r.say = func(string) (*wire.Response, error) {
			<-closed
			return nil, &exchange.SendError{Err: context.Canceled, Sent: true}
		}
		asked := c.Later(request("1", "ping", ""))
		synctest.Wait()
		c.conn.hears.Lost(LostBecause(mcp.ReasonSessionLost, "the server has ended the session's stream"))
		close(closed)
		if response := <-asked; response.Status != wire.StatusNotFound {
			t.Errorf("got %d %s", response.Status, exchangetest.ReadAll(t, response))
		}
	})
}

// A client that hangs up before the server has taken its call may cancel it, for a while. The server hears of that behind the call.
func TestACallCanBeCancelledWhoseClientHasLeftEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{})
		c := r.open()
		takes := make(chan struct{})
		r.say = func(message string) (*wire.Response, error) {
			if strings.Contains(message, "tools/call") {
				<-takes
			}
			return nil, nil
		}
		leave := func(id, method string) {
			ctx, hangUp := context.WithTimeout(t.Context(), time.Second)
			defer hangUp()
			if _, err := c.Send(ctx, wire.MethodPost, request(id, method, ""), 0); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("got %v", err)
			}
		}
		cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"gone"}}`
		leave(`"gone"`, "tools/call")
		cancelled := c.Later(cancel)
		synctest.Wait()
		if said := c.conn.heard(); len(said) != 0 {
			t.Errorf("before the call: the server was told %q", said)
		}
		close(takes)
		exchangetest.ReadAll(t, <-cancelled)
		if said := c.conn.heard(); len(said) != 2 || !strings.Contains(said[1], "requestId") || strings.Contains(said[1], "gone") {
			t.Errorf("the server was told %q, want the call and its cancellation", said)
		}

		leave(`"later"`, "tools/list")
		time.Sleep(cancellable)
		synctest.Wait()
		if n := r.face.sessions[c.Session].inFlight(); n != 0 {
			t.Errorf("%d calls are under way", n)
		}
	})
}

func TestAnAnswerInJSONIsWaitedForSoLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newRig(t, Options{}).open()
		began := time.Now()
		_, err := c.Send(t.Context(), wire.MethodPost, request("2", "tools/list", ""), 3*time.Second)
		if failed, ok := errors.AsType[*exchange.SendError](err); !ok || !failed.Sent || !failed.TimedOut || time.Since(began) != 3*time.Second {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
		c.conn.hear(result(idOf(t, c.conn.heard(), "tools/list"), "late")) // nobody's
	})
}

// What the connection refuses is the answer, and its failures are told as they are.
func TestWhatALineSaysOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{})
		c := r.open()
		unsent := &exchange.SendError{Err: io.ErrUnexpectedEOF}
		for _, body := range []string{request("1", "tools/call", ""), request("1", "tools/list", ""), `{"jsonrpc":"2.0","method":"notifications/initialized"}`} {
			r.say = func(string) (*wire.Response, error) {
				return &wire.Response{Status: 401, Header: wire.NewHeader("Www-Authenticate", "Bearer"), Body: io.NopCloser(strings.NewReader("who?"))}, nil
			}
			if response := c.post(body); response.Status != 401 || response.Header.Get("Www-Authenticate") != "Bearer" || exchangetest.ReadAll(t, response) != "who?" {
				t.Errorf("%s: got %d", body, response.Status)
			}
			r.say = func(string) (*wire.Response, error) { return nil, unsent }
			if _, err := c.Send(t.Context(), wire.MethodPost, body, 0); err != unsent {
				t.Errorf("%s: got %v", body, err)
			}
		}
		if s := r.face.sessions[c.Session]; len(s.calls) != 0 || len(s.streams) != 0 {
			t.Errorf("%d calls are under way, %d streams kept", len(s.calls), len(s.streams))
		}
	})
}

// A server may answer before it has taken the message to its end, and may then still fail.
func TestAnAnswerMayComeBeforeTheMessageIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{})
		c := r.open()
		taken := make(chan *wire.Response)
		told := make(chan string, 1)
		r.say = func(message string) (*wire.Response, error) {
			told <- message
			return <-taken, nil
		}
		answered := c.Later(request("1", "tools/list", ""))
		c.conn.hear(result(idOf(t, []string{<-told}, "tools/list"), "x"))
		if got := exchangetest.ReadAll(t, <-answered); got != result("1", "x") {
			t.Errorf("got %s", got)
		}
		taken <- nil

		answered = c.Later(request("2", "tools/call", ""))
		<-told
		c.conn.hear(request("0", "elicitation/create", ""))
		call := eventsOf(t, <-answered)
		taken <- &wire.Response{Status: 500, Body: io.NopCloser(strings.NewReader(""))}
		call.wants("", request("0", "elicitation/create", ""))
		if _, reason := failure(t, call.next()); reason != mcp.ReasonUpstreamReset {
			t.Errorf("got reason %s", reason)
		}
		call.wants("EOF")
	})
}

// Of an answer and a refusal that come at once, the answer counts.
func TestAnAnswerBesideARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{})
		c := r.open()
		s := r.face.sessions[c.Session]
		call, refused := s.enter(&mcp.Call{ID: []byte("1"), Method: mcp.MethodListTools}, false)
		if refused != nil {
			t.Fatal(refused)
		}
		c.conn.hear(result(call.key, "x"))
		if s.abandon(call) {
			t.Error("an answered call was given up")
		}
		if s.miss(call, said{err: io.ErrUnexpectedEOF}); string(call.response) != result("1", "x") || call.failed != nil {
			t.Errorf("got %s, %v", call.response, call.failed)
		}
	})
}

func TestAnAnswerThatCannotBeReadEndsItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newRig(t, Options{}).open()
		done := c.Later(request("1", "tools/list", ""))
		c.conn.hear(`{"jsonrpc":"2.0","id":` + idOf(t, c.conn.heard(), "tools/list") + `,"result":{},"result":{}}`)
		response := <-done
		if _, reason := failure(t, exchangetest.ReadAll(t, response)); response.Status != wire.StatusBadGateway || reason != mcp.ReasonBadUpstream {
			t.Errorf("got %d, %s", response.Status, reason)
		}
		c.conn.hear(`[` + result("1", "x") + `,`) // breaks off
		c.conn.hear(`rubbish`)
	})
}

// Whoever has too much under way is told so: that is no trouble of the server's.
func TestCallsOfASessionAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newRig(t, Options{}).open()
		for range maxCalls {
			c.post(request("1", "tools/call", "")).Body.Close()
		}
		response := c.post(request("1", "tools/call", ""))
		if code, reason := failure(t, exchangetest.ReadAll(t, response)); response.Status != wire.StatusTooManyRequests || code != mcp.CodeRateLimited || reason != mcp.ReasonTooManyCalls || !response.Unasked {
			t.Errorf("got %d: %d %s", response.Status, code, reason)
		}
	})
}

// A client is answered by a stream where it names one, which the weights in its Accept have a say in (RFC 9110, 12.5.1).
func TestACallIsAnsweredByAStreamWhereItsClientNamesOne(t *testing.T) {
	for accept, want := range map[string]bool{
		"application/json, text/event-stream":     true,
		"Text/Event-Stream;q=0.1":                 true,
		"*/*":                                     false,
		"application/json":                        false,
		"application/json, text/event-stream;q=0": false,
		"application/json;x=text/event-stream":    false,
	} {
		m := &mcp.Call{Kind: mcp.KindRequest, Method: mcp.MethodCallTool}
		if got := streams(m, wire.NewHeader("Accept", accept)); got != want {
			t.Errorf("%s: got a stream: %v, want %v", accept, got, want)
		}
	}
}
