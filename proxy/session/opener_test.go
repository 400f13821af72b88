package session_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/h1/h1test"
	"berth/internal/mcp"
	"berth/internal/mcptest"
	"berth/internal/memnet"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/proxy/session"
	"berth/routing"
)

// rig is an instance of the fleet in memory, and who opens sessions there.
type rig struct {
	*mcptest.Server

	at      *routing.Upstream
	opener  session.Opener
	crossed int
}

// CrossedBy implements outbound.Reporter.
func (r *rig) CrossedBy(string, *routing.Upstream) { r.crossed++ }

// newRig serves with server. The caller is a client of the modern era, whose headers must not
// confuse a session of the other one.
func newRig(t *testing.T, server *mcptest.Server) *rig {
	t.Helper()
	listener := memnet.Listen("a")
	front := &http.Server{Handler: server}
	go front.Serve(listener)
	client := h1test.NewSender(memnet.Dialer(listener), time.Second)
	t.Cleanup(func() {
		client.Close()
		server.Close()
		front.Close()
	})
	r := &rig{Server: server, at: &routing.Upstream{Name: "a", URL: &url.URL{Scheme: "http", Host: "a:80", Path: "/mcp"}}}
	pool := routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: []*routing.Upstream{r.at}})
	request := &wire.Request{Method: wire.MethodPost, URL: &url.URL{Path: "/mcp"}, Host: "berth", RemoteAddr: "192.0.2.1:9", ProtoMajor: 1, ProtoMinor: 1, Header: wire.NewHeader(
		"Authorization", "Bearer caller", "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "who",
		"Mcp-Session-Id", "of the client", "Last-Event-Id", "7",
	)}
	r.opener = session.For(outbound.Way{Report: r, Log: slog.New(slog.DiscardHandler), Call: &inbound.Call{
		HTTP: request.WithContext(t.Context()), Settings: &inbound.Settings{Limits: inbound.Limits{}.WithDefaults()},
		Endpoint: &inbound.Endpoint{Path: "/mcp", Router: &routing.Router{Pool: pool}, Client: client, Timeouts: inbound.Timeouts{Control: 4 * time.Second}},
	}})
	return r
}

func (r *rig) open(ctx context.Context, change func(*session.Opening)) (*session.Session, error) {
	as := session.Opening{
		Initialize: []byte(`{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"x","version":"1"}}}`),
		Accept:     func(*session.Session) error { return nil },
		Then:       [][]byte{[]byte(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`)},
	}
	if change != nil {
		change(&as)
	}
	return r.opener.Open(ctx, r.at, as)
}

// hangs never answers a method.
func hangs(method string) func(http.ResponseWriter, *http.Request, []byte) bool {
	return func(_ http.ResponseWriter, r *http.Request, body []byte) bool {
		if !strings.Contains(string(body), `"`+method+`"`) {
			return false
		}
		<-r.Context().Done()
		return true
	}
}

// cutsOff breaks the connection off behind a method.
func cutsOff(method string) func(http.ResponseWriter, *http.Request, []byte) bool {
	return func(_ http.ResponseWriter, _ *http.Request, body []byte) bool {
		if strings.Contains(string(body), `"`+method+`"`) {
			panic(http.ErrAbortHandler)
		}
		return false
	}
}

// The caller's own credentials open it, and nothing that the caller says of its own call, or in
// its own era, reaches the server.
func TestASessionIsOpenedAndEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &mcptest.Server{})
		s, err := r.open(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.ID == "" || s.Upstream != r.at || s.Version != "2025-11-25" || !strings.Contains(string(s.Result), `"capabilities"`) {
			t.Errorf("got %+v, with %s", s, s.Result)
		}
		if got := r.Sessions(); len(got) != 1 || !got[0].Initialized || got[0].Level != "debug" {
			t.Errorf("the server holds %+v", got)
		}
		first, then := r.LastHeader("initialize"), r.LastHeader("notifications/initialized")
		if first.Get("Authorization") != "Bearer caller" || first.Get(mcp.HeaderSession)+first.Get(mcp.HeaderVersion)+first.Get(mcp.HeaderMethod) != "" {
			t.Errorf("initialize came with %v", first)
		}
		if then.Get(mcp.HeaderSession) != s.ID || then.Get(mcp.HeaderVersion) != "2025-11-25" || then.Get(mcp.HeaderLastEvent) != "" {
			t.Errorf("notifications/initialized came with %v", then)
		}
		s.End(t.Context())
		if got := r.Sessions(); len(got) != 0 {
			t.Errorf("afterwards the server holds %+v", got)
		}
	})
}

// What was negotiated is judged before the server is told that the session begins.
func TestASessionThatIsNotAcceptedIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, other := newRig(t, &mcptest.Server{}), errors.New("another version")
		s, err := r.open(t.Context(), func(as *session.Opening) { as.Accept = func(*session.Session) error { return other } })
		if s != nil || !errors.Is(err, other) {
			t.Errorf("got %v, %v", s, err)
		}
		if n := r.Calls("notifications/initialized"); n != 0 || len(r.Sessions()) != 0 {
			t.Errorf("%d notifications/initialized, sessions %+v", n, r.Sessions())
		}
	})
}

func TestTheCallerMayAnnounceItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &mcptest.Server{})
		if _, err := r.open(t.Context(), func(as *session.Opening) { as.Announced = true }); err != nil {
			t.Fatal(err)
		}
		if n := r.Calls("notifications/initialized"); n != 0 || r.Calls("logging/setLevel") != 1 {
			t.Errorf("%d notifications/initialized", n)
		}
	})
}

// A server without sessions negotiates all the same.
func TestAServerMayKeepNoSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &mcptest.Server{Stateless: true})
		s, err := r.open(t.Context(), func(as *session.Opening) { as.Then = nil })
		if err != nil || s.ID != "" || s.Version != "2025-11-25" {
			t.Fatalf("got %+v, %v", s, err)
		}
		s.End(t.Context())
		if n := r.Calls(http.MethodDelete); n != 0 {
			t.Errorf("%d sessions were ended", n)
		}
	})
}

// What a server asks before its session is open is answered at once: it may wait for that.
func TestAServerAsksBeforeItsSessionIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan string, 2)
		r := newRig(t, &mcptest.Server{Intercept: func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			switch {
			case strings.Contains(string(body), `"initialize"`):
				w.Header().Set("Content-Type", "text/event-stream")
				w.Header().Set(mcp.HeaderSession, "s")
				for _, method := range []string{"ping", "roots/list"} {
					fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%q,\"method\":%[1]q}\n\n", method)
				}
				_ = http.NewResponseController(w).Flush()
				got := []string{<-answers, <-answers}
				slices.Sort(got)
				if !strings.Contains(got[0], `"id":"ping","result":{}`) || !strings.Contains(got[1], `"id":"roots/list","error":`) {
					t.Errorf("answered %q", got)
				}
				fmt.Fprint(w, `data: {"jsonrpc":"2.0","id":"berth","result":{"protocolVersion":"2025-11-25","capabilities":{}}}`, "\n\n")
			case strings.Contains(string(body), `"method"`):
				w.WriteHeader(202)
			case r.Method == http.MethodPost && r.Header.Get(mcp.HeaderSession) == "s":
				answers <- string(body)
				w.WriteHeader(202)
			}
			return true
		}})
		if s, err := r.open(t.Context(), func(as *session.Opening) { as.Then = nil }); err != nil {
			t.Errorf("got %v, %v", s, err)
		}
	})
}

// Whether another upstream may be asked shows by the error, and nobody waits for ever.
func TestWhatKeepsASessionFromBeingOpened(t *testing.T) {
	answers := func(method string, status int, body string) func(http.ResponseWriter, *http.Request, []byte) bool {
		return func(w http.ResponseWriter, _ *http.Request, got []byte) bool {
			if !strings.Contains(string(got), `"`+method+`"`) {
				return false
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
			return true
		}
	}
	for name, c := range map[string]struct {
		fault   func(http.ResponseWriter, *http.Request, []byte) bool
		refused bool
		sent    bool // or answered: no other may be asked
		most    time.Duration
	}{
		"silence":         {fault: hangs("initialize"), sent: true, most: 4 * time.Second},
		"silence later":   {fault: hangs("notifications/initialized"), refused: true, sent: true, most: 4 * time.Second},
		"an end later":    {fault: cutsOff("notifications/initialized"), refused: true, sent: true},
		"another era":     {fault: answers("initialize", 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"x","data":{"supported":["2026-07-28"]}}}`)},
		"a refusal":       {fault: answers("initialize", 200, `{"jsonrpc":"2.0","id":"berth","error":{"code":-32602,"message":"no"}}`), refused: true},
		"no version":      {fault: answers("initialize", 200, `{"jsonrpc":"2.0","id":"berth","result":{}}`), refused: true},
		"credentials":     {fault: answers("initialize", 401, ""), refused: true},
		"a refused level": {fault: answers("logging/setLevel", 200, `{"jsonrpc":"2.0","id":"berth","error":{"code":-32602,"message":"no"}}`), refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &mcptest.Server{Intercept: c.fault})
				began := time.Now()
				s, err := r.open(t.Context(), nil)
				if s != nil || errors.Is(err, session.ErrRefused) != c.refused {
					t.Errorf("got %v, %v", s, err)
				}
				if failed, ok := errors.AsType[*exchange.SendError](err); ok != (c.sent || !c.refused) || ok && failed.Sent != c.sent {
					t.Errorf("got %v", err)
				}
				if took := time.Since(began); took > c.most {
					t.Errorf("took %v", took)
				}
				if got := r.Sessions(); len(got) != 0 {
					t.Errorf("the server holds %+v", got)
				}
			})
		})
	}
}

// The whole of it is bounded, too, and so is the end of what came of it.
func TestAnOpeningIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			select {
			case <-r.Context().Done():
			case <-time.After(3 * time.Second):
			}
			return r.Method == http.MethodDelete
		}
		r := newRig(t, &mcptest.Server{Intercept: slow})
		began := time.Now()
		_, err := r.open(t.Context(), func(as *session.Opening) { as.Then = slices.Repeat(as.Then, 9) })
		if took := time.Since(began); err == nil || took > 10*time.Second {
			t.Errorf("got %v after %v", err, took)
		}
	})
}
