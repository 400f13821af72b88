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

func TestASessionIsOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{SessionPrefix: "berth-a-"})
		one, other := r.open(), r.open()
		if !strings.HasPrefix(one.Session, "berth-a-") || one.Session == other.Session || len(one.Session) < 30 {
			t.Errorf("sessions are called %s and %s", one.Session, other.Session)
		}
		if got := one.status(wire.MethodPost, opens); got != wire.StatusBadRequest {
			t.Errorf("to a second initialize: got %d", got)
		}
		if got := one.status(wire.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); got != wire.StatusAccepted {
			t.Errorf("got %d", got)
		}
		if said := one.conn.heard(); len(said) != 1 {
			t.Errorf("the server was told %q", said)
		}
	})
}

// Each session's initialize has the id that SDKs' clients give it: some servers answer it under no other.
func TestInitializeHasTheIDOfSDKs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{})
		for range 2 {
			response := r.client().post(opens)
			if said := r.conns[len(r.conns)-1].heard(); response.Status != wire.StatusOK || len(said) != 1 || !strings.Contains(said[0], `"id":0,`) {
				t.Errorf("got %d, and the server was told %q", response.Status, said)
			}
			exchangetest.ReadAll(t, response)
		}
	})
}

// What keeps a session from being opened leaves none behind.
func TestASessionThatIsNotOpened(t *testing.T) {
	refusal := func() *wire.Response {
		return &wire.Response{Status: 403, Header: new(wire.Header), Body: io.NopCloser(strings.NewReader("no"))}
	}
	unsent := &exchange.SendError{Err: io.ErrUnexpectedEOF}
	for name, c := range map[string]struct {
		dial     func() (*wire.Response, error)
		say      func(string) (*wire.Response, error)
		met      func(Listener)
		does     func(*fakeConn, string)
		status   int
		sent, in bool // the error's: Sent and TimedOut
	}{
		"a refusal":                 {dial: func() (*wire.Response, error) { return refusal(), nil }, status: 403},
		"no connection":             {dial: func() (*wire.Response, error) { return nil, unsent }},
		"a connection lost at once": {met: func(l Listener) { l.Lost(LostBecause("x", "y")) }},
		"a refusal later":           {say: func(string) (*wire.Response, error) { return refusal(), nil }, status: 403},
		"a break":                   {say: func(string) (*wire.Response, error) { return nil, unsent }},
		"a JSON-RPC error":          {does: func(l *fakeConn, id string) { l.hear(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32602}}`) }, status: 200},
		"no version":                {does: func(l *fakeConn, id string) { l.hear(result(id, "x")) }, status: 200},
		"a connection that breaks":  {does: func(l *fakeConn, id string) { l.hears.Lost(LostBecause("x", "y")) }, sent: true},
		"silence":                   {does: func(l *fakeConn, id string) {}, sent: true, in: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Options{})
				r.mute, r.dial, r.say, r.met = true, c.dial, c.say, c.met
				type outcome struct {
					*wire.Response
					error
				}
				done := make(chan outcome, 1)
				go func() {
					response, err := r.client().Send(t.Context(), wire.MethodPost, opens, 2*time.Second)
					done <- outcome{response, err}
				}()
				synctest.Wait()
				if c.does != nil {
					c.does(r.conns[0], idOf(t, r.conns[0].heard(), "initialize"))
				}
				got := <-done
				if failed, ok := errors.AsType[*exchange.SendError](got.error); ok != (c.status == 0) || ok && (failed.Sent != c.sent || failed.TimedOut != c.in) {
					t.Errorf("got %v", got.error)
				}
				if got.error == nil && (got.Status != c.status || got.Header.Get(mcp.HeaderSession) != "") {
					t.Errorf("got %d, %v", got.Status, got.Header)
				}
				if len(r.face.sessions) != 0 || len(r.conns) > 0 && !r.conns[0].isClosed() {
					t.Errorf("there are %d sessions", len(r.face.sessions))
				}
			})
		})
	}
}

// All that waits is told at once, and the session is unknown from then on.
func TestALineThatIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newRig(t, Options{}).open()
		call := eventsOf(t, c.post(request("1", "tools/call", "")))
		standing := eventsOf(t, c.get())
		level := c.Later(request("2", "logging/setLevel", ""))
		c.conn.heard()
		c.conn.hears.Lost(LostBecause(mcp.ReasonSessionLost, "gone"))
		call.wants("")
		message := call.next()
		if code, reason := failure(t, message); code != mcp.CodeInternal || reason != mcp.ReasonSessionLost || string(mcp.ID([]byte(message))) != "1" {
			t.Errorf("got %s", message)
		}
		call.wants("EOF")
		standing.wants("EOF")
		response := <-level
		if _, reason := failure(t, exchangetest.ReadAll(t, response)); response.Status != wire.StatusBadGateway || reason != mcp.ReasonSessionLost {
			t.Errorf("got %d, %s", response.Status, reason)
		}
		for _, method := range []string{wire.MethodPost, wire.MethodGet, wire.MethodDelete} {
			if got := c.status(method, request("3", "ping", "")); got != wire.StatusNotFound {
				t.Errorf("%s: got %d", method, got)
			}
		}
		if !c.conn.isClosed() {
			t.Error("the connection is open")
		}
		c.conn.hear(result("9", "late"))
		c.conn.hear(request("9", "ping", ""))
		if said := c.conn.heard(); len(said) != 0 {
			t.Errorf("the server was told %q", said)
		}
	})
}

func TestAClientEndsItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newRig(t, Options{}).open()
		if got := c.status(wire.MethodDelete, ""); got != wire.StatusNoContent || !c.conn.isClosed() {
			t.Errorf("got %d, closed %v", got, c.conn.isClosed())
		}
		if got := c.status(wire.MethodDelete, ""); got != wire.StatusNotFound {
			t.Errorf("once more: got %d", got)
		}
	})
}

// A call that its own client ends with its session has an answer that is no trouble of the server's.
func TestAClientEndsItsSessionInMidCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newRig(t, Options{}).open()
		list := c.Later(request("1", "tools/list", ""))
		c.conn.heard()
		if got := c.status(wire.MethodDelete, ""); got != wire.StatusNoContent {
			t.Errorf("got %d", got)
		}
		response := <-list
		if code, reason := failure(t, exchangetest.ReadAll(t, response)); response.Status != wire.StatusOK || code != mcp.CodeInternal || reason != mcp.ReasonSessionLost {
			t.Errorf("got %d: %d %s", response.Status, code, reason)
		}
	})
}

func TestSessionsAreBoundedInNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{MaxSessions: 2})
		c, other := r.open(), r.open()
		c.get()
		other.get()
		response := r.client().post(opens)
		if response.Status != wire.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" || !response.Unasked {
			t.Errorf("got %d %v, unasked %v", response.Status, response.Header, response.Unasked)
		}
		c.status(wire.MethodDelete, "")
		r.open()
		r.face.Close()
		synctest.Wait()
		if !other.conn.isClosed() || !r.closed || r.client().post(opens).Status != wire.StatusServiceUnavailable {
			t.Error("a session outlives the face")
		}
	})
}

// Where there is no room, whoever has most sessions loses those that nobody has used for the longest time, and nobody else any: one caller
// keeps nobody out.
func TestLinesThatNobodyUsesKeepNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{MaxSessions: 5})
		opened := func(caller string) *client {
			c := r.client()
			c.Caller = caller
			time.Sleep(time.Second)
			response := c.post(opens)
			c.Session = response.Header.Get(mcp.HeaderSession)
			if response.Status == wire.StatusOK {
				r.mu.Lock()
				defer r.mu.Unlock()
				c.conn = r.conns[len(r.conns)-1]
				c.conn.heard()
			}
			return c
		}
		small := opened("small")
		listens, calls, first, second := opened("greedy"), opened("greedy"), opened("greedy"), opened("greedy")
		listens.get()
		calls.post(request("1", "tools/call", "")).Body.Close()
		time.Sleep(time.Second)
		first.status(wire.MethodPost, `{"jsonrpc":"2.0","method":"notifications/x"}`) // after the second one
		if other := opened("other"); other.Session == "" || !second.conn.isClosed() {
			t.Errorf("session %q was opened, and the one not used for the longest time is over: %v", other.Session, second.conn.isClosed())
		}
		if other := opened("other"); other.Session == "" || !first.conn.isClosed() {
			t.Errorf("session %q was opened, and the next one is over: %v", other.Session, first.conn.isClosed())
		}
		for name, c := range map[string]*client{"another's": small, "one that is listened to": listens, "one in a call": calls} {
			if c.conn.isClosed() {
				t.Errorf("%s is over", name)
			}
		}
		if got := first.status(wire.MethodPost, `{"jsonrpc":"2.0","method":"notifications/x"}`); got != wire.StatusNotFound {
			t.Errorf("its client was told %d", got)
		}
	})
}

// A session is idle while no request comes, nobody waits for one and nobody listens.
func TestAnIdleSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{Idle: 10 * time.Minute})
		c := r.open()
		ping := func() int {
			done := c.Later(request("1", "ping", ""))
			if said := c.conn.heard(); len(said) == 1 {
				c.conn.hear(result(idOf(t, said, "ping"), "x"))
			}
			return (<-done).Status
		}
		alive := func(when string) {
			t.Helper()
			if c.conn.heard(); c.conn.isClosed() {
				t.Fatalf("%s: the session has ended", when)
			}
		}
		time.Sleep(9 * time.Minute)
		if got := ping(); got != wire.StatusOK {
			t.Fatalf("got %d", got)
		}
		time.Sleep(9 * time.Minute)
		alive("after a request")
		call := c.post(request("1", "tools/call", ""))
		list := c.Later(request("2", "tools/list", ""))
		said := c.conn.heard()
		time.Sleep(time.Hour)
		alive("while calls are awaited")
		c.conn.hear(result(idOf(t, said, "tools/call"), "x"))
		call.Body.Close()
		time.Sleep(time.Hour)
		alive("while a call without a stream is awaited")
		c.conn.hear(result(idOf(t, said, "tools/list"), "x"))
		<-list
		standing := c.get()
		time.Sleep(time.Hour)
		alive("while somebody listens")
		standing.Body.Close()
		time.Sleep(9 * time.Minute)
		alive("after somebody has listened")
		time.Sleep(11 * time.Minute)
		if got := ping(); got != wire.StatusNotFound || !c.conn.isClosed() {
			t.Errorf("got %d", got)
		}
	})
}

// A call that its client has left, and that has no answer, keeps no session: what asks whoever is gone waits for ever.
func TestASessionEndsWhoseCallNobodyAwaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{Idle: 10 * time.Minute, MaxSessions: 1})
		c := r.open()
		c.post(request("1", "tools/call", "")).Body.Close()
		c.conn.hear(request("0", "elicitation/create", ""))
		time.Sleep(9 * time.Minute)
		if c.conn.heard(); c.conn.isClosed() {
			t.Error("the session has ended, though its client may come back")
		}
		time.Sleep(12 * time.Minute)
		if c.conn.heard(); !c.conn.isClosed() || r.face.InFlight() != 0 {
			t.Errorf("the session stands, with %d calls", r.face.InFlight())
		}
		r.open()
	})
}

// A call's stream can be read on, by one at a time, while it lasts and for a while after.
func TestAStreamIsResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newRig(t, Options{}).open()
		ctx, hangUp := context.WithCancel(t.Context())
		response, err := c.Send(ctx, wire.MethodPost, request("1", "tools/call", ""), 0)
		if err != nil {
			t.Fatal(err)
		}
		call := eventsOf(t, response)
		own := idOf(t, c.conn.heard(), "tools/call")
		ask := request("0", "roots/list", "")
		call.wants("")
		primed := call.id
		c.conn.hear(ask)
		call.wants(ask)
		if got := c.status(wire.MethodGet, "", mcp.HeaderLastEvent, primed); got != wire.StatusConflict {
			t.Errorf("while another reads: got %d", got)
		}
		hangUp()
		synctest.Wait()
		again := eventsOf(t, c.get(mcp.HeaderLastEvent, primed))
		again.wants(ask)
		c.conn.hear(result(own, "x"))
		again.wants(result("1", "x"), "EOF")
		last := again.id
		time.Sleep(keepEnded - time.Second)
		eventsOf(t, c.get(mcp.HeaderLastEvent, primed)).wants(ask, result("1", "x"), "EOF")
		over := c.get(mcp.HeaderLastEvent, last)
		if body := exchangetest.ReadAll(t, over); over.Status != wire.StatusMethodNotAllowed || over.Header.Get("Allow") == "" || !strings.Contains(body, "-32000") {
			t.Errorf("after its answer: got %d %s", over.Status, body)
		}
		for _, id := range []string{"x", "99-0", last + "9"} {
			if got := c.status(wire.MethodGet, "", mcp.HeaderLastEvent, id); got != wire.StatusBadRequest {
				t.Errorf("from %s: got %d", id, got)
			}
		}
		time.Sleep(2 * time.Second)
		if got := c.status(wire.MethodGet, "", mcp.HeaderLastEvent, primed); got != wire.StatusBadRequest {
			t.Errorf("later: got %d", got)
		}
	})
}

// What a server says before its session is open is heard, and cannot be answered.
func TestAServerThatSpeaksFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{})
		early := `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`
		r.met = func(l Listener) {
			l.Hear([]byte(request("0", "ping", "")))
			l.Hear([]byte(early))
		}
		c := r.open()
		eventsOf(t, c.get()).wants(early)
	})
}

// The ended streams of a session are bounded together, in messages too.
func TestMessagesOfEndedStreamsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{})
		c := r.open()
		for range 2 {
			response := c.post(request("1", "tools/call", `"_meta":{"progressToken":1}`))
			for range maxKept / 2 {
				c.conn.hear(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`)
			}
			c.conn.hear(result(idOf(t, c.conn.heard(), "tools/call"), "x"))
			exchangetest.ReadAll(t, response)
		}
		if kept := len(r.face.sessions[c.Session].ended); kept != 1 {
			t.Errorf("%d streams are kept", kept)
		}
	})
}

// The ended streams of a session are bounded together: the oldest go first.
func TestEndedStreamsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Options{})
		c := r.open()
		for _, size := range []int{0, maxKeptBytes / 4} {
			calls := 2 * maxEnded
			if size > 0 {
				calls = 5
			}
			for range calls {
				response := c.post(request("1", "tools/call", ""))
				c.conn.hear(result(idOf(t, c.conn.heard(), "tools/call"), strings.Repeat("x", size)))
				exchangetest.ReadAll(t, response)
			}
			s := r.face.sessions[c.Session]
			most := maxEnded
			if size > 0 {
				most = 3
			}
			if len(s.streams) != most || len(s.ended) != most || len(s.forgets) != most {
				t.Errorf("of %d bytes each: %d streams, %d ended, %d timers", size, len(s.streams), len(s.ended), len(s.forgets))
			}
		}
	})
}
