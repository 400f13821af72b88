package httpsse_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/exchange/exchangetest"
	"berth/internal/httpsse"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// Each request bears the credentials of whoever makes it, and nothing of the session.
func TestASessionIsAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, httpsse.Options{SessionPrefix: "b-"})
		session := s.open("Authorization", "Bearer one", mcp.HeaderLastEvent, "1-1")
		if !strings.HasPrefix(session[5], "b-") {
			t.Errorf("the session is called %s", session[5])
		}
		get := s.gets[0]
		if get.Header.Get("Authorization") != "Bearer one" || get.Host != "front.example" || get.Header.Get("Accept") != "text/event-stream" ||
			get.Header.Get("Content-Type")+get.Header.Get("Last-Event-ID") != "" {
			t.Errorf("the stream was opened with %s %v", get.Host, get.Header)
		}
		call := s.Do(wire.MethodPost, request("7", "tools/call"), mcp.HeaderSession, session[5], "Authorization", "Bearer two")
		posted := s.posted()
		if posted.RequestURI != "/messages/?session=0" || posted.Host != "front.example" || posted.Header.Get("Authorization") != "Bearer two" ||
			posted.Header.Get(mcp.HeaderSession) != "" {
			t.Errorf("posted to %s: %v", posted.RequestURI, posted.Header)
		}
		id := string(mcp.ID([]byte(posted.body)))
		s.last().say <- ": still here\n\n" + message(request("0", "elicitation/create"))
		s.last().say <- message(result(id, "x"))
		if got := exchangetest.ReadAll(t, call); !strings.Contains(got, "data: "+request("0", "elicitation/create")+"\n\n") || !strings.HasSuffix(got, "data: "+result("7", "x")+"\n\n") {
			t.Errorf("got %s", got)
		}
		if status := s.Do(wire.MethodDelete, "", session...).Status; status != wire.StatusNoContent || !s.ended() {
			t.Errorf("DELETE: got %d", status)
		}
		if status := s.Do(wire.MethodPost, request("1", "ping"), session...).Status; status != wire.StatusNotFound {
			t.Errorf("afterwards: got %d", status)
		}
	})
}

// A stream that the server refuses is its answer to initialize, whatever that is.
func TestARefusedStream(t *testing.T) {
	for _, status := range []int{204, 302, 401, 403, 404, 405, 500, 503} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, httpsse.Options{})
			s.opens = func(w http.ResponseWriter, _ *http.Request) bool {
				w.Header().Set("WWW-Authenticate", "Bearer")
				w.WriteHeader(status)
				if status != 204 {
					_, _ = io.WriteString(w, "why")
				}
				return true
			}
			for _, method := range []string{"initialize", "ping"} {
				response := s.Do(wire.MethodPost, request("0", method))
				challenge := response.Header.Get("Www-Authenticate")
				if body := exchangetest.ReadAll(t, response); response.Status != status || challenge != "Bearer" || status != 204 && body != "why" {
					t.Errorf("%s: got %d %v %s, want %d", method, response.Status, response.Header, body, status)
				}
			}
		})
	}
}

// An endpoint is one of the stream's own origin, or there is no session.
func TestTheEndpoint(t *testing.T) {
	for announced, status := range map[string]int{
		"/messages/?session=0":              200,
		"messages/?session=0":               200,
		"//a/messages/?session=0":           200,
		"http://A:80/messages/?session=0#x": 200,
		"http://front.example/messages/":    200,
		"https://Front.example/messages/":   200,
		"ftp://front.example/messages/":     502,
		"http://front.example:81/messages/": 502,
		"http://x@front.example/messages/":  502,
		"http://a:81/messages/":             502,
		"https://a:80/messages/":            502,
		"https://a/messages/":               502,
		"http://b/messages/":                502,
		"//b/messages/":                     502,
		"http://a:80@b/messages/":           502,
		"http://somebody@a/messages/":       502,
		"file:///messages/":                 502,
		"http:messages/":                    502,
		"http://a\x7f/":                     502,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, httpsse.Options{})
			s.endpoint = announced
			response := s.Do(wire.MethodPost, opens)
			body := exchangetest.ReadAll(t, response)
			if response.Status != status {
				t.Errorf("%s: got %d %s, want %d", announced, response.Status, body, status)
			}
			if status == 502 && (!s.ended() || len(s.posts) > 0 || !strings.Contains(body, `"id":0,"error"`) || response.Header.Get(mcp.HeaderSession) != "") {
				t.Errorf("%s: got %s, %d messages", announced, body, len(s.posts))
			}
		})
	}
}

// What is no such server is told apart from one that could be asked again elsewhere.
func TestAStreamThatDoesNotBegin(t *testing.T) {
	stream := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ": hello\n\n")
		_ = http.NewResponseController(w).Flush()
	}
	for name, c := range map[string]struct {
		opens  func(w http.ResponseWriter, r *http.Request) bool
		wait   time.Duration
		status int // 0: an error
		late   bool
		took   time.Duration
	}{
		"a page":        {opens: func(w http.ResponseWriter, _ *http.Request) bool { _, _ = io.WriteString(w, "<html>"); return true }, status: 502},
		"no end":        {opens: func(w http.ResponseWriter, r *http.Request) bool { stream(w); <-r.Context().Done(); return true }, wait: 3 * time.Second, late: true, took: 3 * time.Second},
		"no patience":   {opens: func(w http.ResponseWriter, r *http.Request) bool { stream(w); <-r.Context().Done(); return true }, late: true, took: 10 * time.Second},
		"silence":       {opens: func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true }, wait: 3 * time.Second, late: true, took: 3 * time.Second},
		"an early end":  {opens: func(w http.ResponseWriter, _ *http.Request) bool { stream(w); return true }},
		"a broken head": {opens: func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t, httpsse.Options{})
				s.opens = c.opens
				began := time.Now()
				response, err := s.Send(t.Context(), wire.MethodPost, opens, c.wait)
				failed, ok := errors.AsType[*exchange.SendError](err)
				if ok != (c.status == 0) || ok && (failed.Sent || failed.TimedOut != c.late) || time.Since(began) != c.took {
					t.Errorf("got %v, %v after %v", response, err, time.Since(began))
				}
				if err == nil && (response.Status != c.status || response.Header.Get("Content-Type") != "application/json") {
					t.Errorf("got %d", response.Status)
				}
			})
		})
	}
}

// A client that leaves while its session is being opened leaves no stream behind.
func TestAClientThatLeavesEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, httpsse.Options{})
		s.takes = func(w http.ResponseWriter, _ *http.Request, _ string) bool { w.WriteHeader(202); return true }
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.Send(ctx, wire.MethodPost, opens, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if !s.ended() || len(s.streams) != 1 {
			t.Error("the stream is open")
		}
	})
}

// Also while the stream does not begin.
func TestAClientThatLeavesEarlier(t *testing.T) {
	for name, head := range map[string]bool{"before the head": false, "before the endpoint": true} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, httpsse.Options{})
			s.opens = func(w http.ResponseWriter, r *http.Request) bool {
				if head {
					w.Header().Set("Content-Type", "text/event-stream")
					_ = http.NewResponseController(w).Flush()
				}
				<-r.Context().Done()
				return true
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			_, err := s.Send(ctx, wire.MethodPost, opens, 0)
			if failed, ok := errors.AsType[*exchange.SendError](err); !ok || failed.Sent || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
				t.Errorf("%s: got %v after %v", name, err, time.Since(began))
			}
		})
	}
}

// The stream outlives the request that opened it.
func TestTheStreamOutlivesItsOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, httpsse.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		response, err := s.Send(ctx, wire.MethodPost, opens, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		exchangetest.ReadAll(t, response)
		cancel()
		time.Sleep(time.Minute)
		if s.ended() {
			t.Error("the stream has ended")
		}
	})
}

func TestAnIdleSessionClosesItsStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, httpsse.Options{Idle: time.Minute})
		s.open()
		time.Sleep(time.Minute + time.Second)
		if !s.ended() {
			t.Error("the stream is open")
		}
	})
}

// A ping without a session opens a stream to see that there is one.
func TestAPingWithoutASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, httpsse.Options{})
		if response := s.Do(wire.MethodPost, request("1", "ping")); response.Status != 200 || exchangetest.ReadAll(t, response) != `{"jsonrpc":"2.0","id":1,"result":{}}` {
			t.Errorf("got %d", response.Status)
		}
		if !s.ended() || len(s.gets) != 1 || len(s.posts) != 0 {
			t.Errorf("%d streams, %d messages", len(s.gets), len(s.posts))
		}
	})
}

func TestNothingIsSentWhereNobodyListens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, httpsse.Options{})
		s.URL.Host = "nowhere"
		_, err := s.Send(t.Context(), wire.MethodPost, opens, 0)
		if failed, ok := errors.AsType[*exchange.SendError](err); !ok || failed.Sent {
			t.Errorf("got %v", err)
		}
	})
}
