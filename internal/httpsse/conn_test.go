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

// What the server answers to a message in its place passes, also to initialize.
func TestARefusedMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, httpsse.Options{})
		session := s.open()
		s.takes = func(w http.ResponseWriter, _ *http.Request, _ string) bool {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, strings.Repeat("no ", 10_000), http.StatusUnauthorized)
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Second) // by then the session that is refused is over
			_, _ = io.WriteString(w, "end")
			return true
		}
		for _, body := range []string{request("1", "tools/call"), request("1", "tools/list"), `{"jsonrpc":"2.0","method":"notifications/initialized"}`} {
			response := s.Do(wire.MethodPost, body, session...)
			challenge := response.Header.Get("Www-Authenticate")
			if text := exchangetest.ReadAll(t, response); response.Status != 401 || challenge != "Bearer" || len(text) < 30_000 {
				t.Errorf("%s: got %d %v", body, response.Status, response.Header)
			}
		}
		response := s.Do(wire.MethodPost, opens)
		if text := exchangetest.ReadAll(t, response); response.Status != 401 || !strings.HasSuffix(text, "end") {
			t.Errorf("initialize: got %d", response.Status)
		}
		if s.ended() {
			t.Error("a refusal ended another session")
		}
		select {
		case <-s.last().gone:
		default:
			t.Error("a session is open that was refused")
		}
	})
}

// Some servers answer a message where it was posted.
func TestAnAnswerInTheBody(t *testing.T) {
	for media, body := range map[string]string{
		"application/json":  "%s",
		"text/plain":        "%s\n",
		"text/event-stream": ": x\n\ndata: %s\n\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, httpsse.Options{})
			session := s.open()
			s.takes = func(w http.ResponseWriter, _ *http.Request, got string) bool {
				w.Header().Set("Content-Type", media)
				_, _ = io.WriteString(w, strings.Replace(body, "%s", result(string(mcp.ID([]byte(got))), "x"), 1))
				return true
			}
			if got := exchangetest.ReadAll(t, s.Do(wire.MethodPost, request("7", "tools/list"), session...)); got != result("7", "x") {
				t.Errorf("%s: got %s", media, got)
			}
			if got := exchangetest.ReadAll(t, s.Do(wire.MethodPost, request("8", "tools/call"), session...)); !strings.HasSuffix(got, "data: "+result("8", "x")+"\n\n") {
				t.Errorf("%s: got %s", media, got)
			}
		})
	}
}

// An answer in the body that breaks off is as good as none; one that is too long ends the session.
func TestAnAnswerInTheBodyThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, httpsse.Options{})
		session := s.open()
		s.takes = func(w http.ResponseWriter, _ *http.Request, _ string) bool {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"jsonrpc":`)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		_, err := s.Send(t.Context(), wire.MethodPost, request("1", "tools/list"), 0, session...)
		if failed, ok := errors.AsType[*exchange.SendError](err); !ok || !failed.Sent {
			t.Errorf("got %v", err)
		}
		s.takes = func(w http.ResponseWriter, _ *http.Request, _ string) bool {
			_, _ = w.Write(make([]byte, 5<<20))
			return true
		}
		if got := exchangetest.ReadAll(t, s.Do(wire.MethodPost, request("1", "tools/list"), session...)); !strings.Contains(got, mcp.ReasonEventTooLarge) {
			t.Errorf("got %s", got)
		}
		if !s.ended() {
			t.Error("the stream is open")
		}
	})
}

// What becomes of a message is what the exchange says of it.
func TestAMessageThatIsNotTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, httpsse.Options{})
		session := s.open()
		s.takes = func(http.ResponseWriter, *http.Request, string) bool { panic(http.ErrAbortHandler) }
		for _, method := range []string{"tools/call", "tools/list"} {
			_, err := s.Send(t.Context(), wire.MethodPost, request("1", method), 0, session...)
			if failed, ok := errors.AsType[*exchange.SendError](err); !ok || !failed.Sent {
				t.Errorf("%s: got %v", method, err)
			}
		}
		s.takes = func(_ http.ResponseWriter, r *http.Request, _ string) bool { <-r.Context().Done(); return true }
		began := time.Now()
		_, err := s.Send(t.Context(), wire.MethodPost, request("1", "tools/call"), 2*time.Second, session...)
		if failed, ok := errors.AsType[*exchange.SendError](err); !ok || !failed.Sent || !failed.TimedOut || time.Since(began) != 2*time.Second {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
	})
}

// A server may hold the POST of a call until it has answered on the stream.
func TestAPostThatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, httpsse.Options{})
		session := s.open()
		over := make(chan struct{})
		s.takes = func(_ http.ResponseWriter, r *http.Request, body string) bool {
			defer close(over)
			time.Sleep(time.Hour)
			s.last().say <- message(result(string(mcp.ID([]byte(body))), "x"))
			<-r.Context().Done()
			return true
		}
		if got := exchangetest.ReadAll(t, s.Do(wire.MethodPost, request("7", "tools/call"), session...)); !strings.HasSuffix(got, "data: "+result("7", "x")+"\n\n") {
			t.Errorf("got %s", got)
		}
		s.Do(wire.MethodDelete, "", session...)
		s.ended()
		select {
		case <-over:
		default:
			t.Error("the POST outlives its session")
		}
	})
}

// What bounds the wait for an answer bounds its beginning: a POST that is held may take longer once the call has asked.
func TestAPostThatIsHeldWhileItsCallAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, httpsse.Options{})
		session := s.open()
		s.takes = func(_ http.ResponseWriter, r *http.Request, body string) bool {
			time.Sleep(time.Second)
			s.last().say <- message(request("0", "elicitation/create"))
			select {
			case <-time.After(time.Minute):
			case <-r.Context().Done():
			}
			s.last().say <- message(result(string(mcp.ID([]byte(body))), "x"))
			return false
		}
		response, err := s.Send(t.Context(), wire.MethodPost, request("7", "prompts/get"), 10*time.Second, session...)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if got := exchangetest.ReadAll(t, response); !strings.HasSuffix(got, "data: "+result("7", "x")+"\n\n") || time.Since(began) < time.Minute {
			t.Errorf("after %v got %s", time.Since(began), got)
		}
	})
}

// A POST that is held longer than its call lasts is not waited for as long as the session lasts.
func TestAPostThatIsHeldForGoodEndsBehindItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, httpsse.Options{})
		session := s.open()
		left := make(chan struct{})
		s.takes = func(_ http.ResponseWriter, r *http.Request, body string) bool {
			s.last().say <- message(result(string(mcp.ID([]byte(body))), "x"))
			<-r.Context().Done()
			close(left)
			return true
		}
		response, err := s.Send(t.Context(), wire.MethodPost, request("7", "tools/call"), 10*time.Second, session...)
		if err != nil {
			t.Fatal(err)
		}
		exchangetest.ReadAll(t, response)
		select {
		case <-left:
		case <-time.After(time.Minute):
			t.Error("the POST outlives its call")
		}
	})
}

// A client that hangs up does not take back what it has said.
func TestAHangUpTakesNothingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, httpsse.Options{})
		session := s.open()
		taken := make(chan error, 1)
		s.takes = func(w http.ResponseWriter, r *http.Request, _ string) bool {
			time.Sleep(time.Minute)
			taken <- r.Context().Err()
			return true
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.Send(ctx, wire.MethodPost, request("1", "tools/call"), 0, session...); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if err := <-taken; err != nil {
			t.Errorf("the server saw %v", err)
		}
	})
}

// With its stream a session loses all that is under way, at once.
func TestAStreamThatEnds(t *testing.T) {
	for name, c := range map[string]struct{ says, reason string }{
		"":          {"", mcp.ReasonSessionLost},
		"too large": {message(strings.Repeat("x", 5<<20)), mcp.ReasonEventTooLarge},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, httpsse.Options{})
			session := s.open()
			call, level := s.Do(wire.MethodPost, request("1", "tools/call"), session...), s.Later(request("2", "logging/setLevel"), session...)
			s.posted()
			s.last().say <- c.says
			for _, response := range []*wire.Response{call, <-level} {
				if got := exchangetest.ReadAll(t, response); !strings.Contains(got, `"code":-32603`) || !strings.Contains(got, c.reason) {
					t.Errorf("%s: got %s", name, got)
				}
			}
			if status := s.Do(wire.MethodPost, request("3", "ping"), session...).Status; status != wire.StatusNotFound || !s.ended() {
				t.Errorf("%s: afterwards: got %d", name, status)
			}
			s.open()
		})
	}
}

// What changes nothing fails with its session as with a connection that broke: who sends it may do so again.
func TestAListFailsWithItsStreamAsUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, httpsse.Options{})
		session := s.open()
		s.takes = func(w http.ResponseWriter, _ *http.Request, _ string) bool {
			w.WriteHeader(http.StatusAccepted)
			s.last().say <- ""
			return true
		}
		_, err := s.Send(t.Context(), wire.MethodPost, request("1", "tools/list"), 0, session...)
		if failed, ok := errors.AsType[*exchange.SendError](err); !ok || !failed.Sent || failed.TimedOut {
			t.Errorf("got %v", err)
		}
	})
}

// A call may meet the end of its session's stream. A server that refuses it has not executed it, whichever
// berth hears of first; without a word within a second, nobody knows.
func TestACallThatMeetsTheEndOfTheStream(t *testing.T) {
	for method, takes := range map[string]time.Duration{"tools/call": 500 * time.Millisecond, "tools/list": 500 * time.Millisecond, "prompts/get": 5 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, httpsse.Options{})
			session := s.open()
			s.takes = func(w http.ResponseWriter, _ *http.Request, _ string) bool {
				s.last().say <- ""
				time.Sleep(takes)
				http.Error(w, "no such session", http.StatusNotFound)
				return true
			}
			response := s.Do(wire.MethodPost, request("1", method), session...)
			text := exchangetest.ReadAll(t, response)
			if refused, lost := response.Status == 404, strings.Contains(text, `"session_lost"`) && strings.Contains(text, `"mayHaveExecuted":true`); refused == lost || lost != (takes > time.Second) {
				t.Errorf("%s: got %d %s", method, response.Status, text)
			}
			time.Sleep(takes) // the server is done
		})
	}
}

// An answer that is too large fails its call alone, wherever its id stands and however it comes; the session goes on.
func TestAnAnswerThatIsTooLargeFailsAlone(t *testing.T) {
	text := strings.Repeat("x", 5<<20)
	for name, answer := range map[string]func(id string) string{
		"id first": func(id string) string { return result(id, text) },
		"id last":  func(id string) string { return `{"jsonrpc":"2.0","result":{"text":"` + text + `"},"id":` + id + `}` },
	} {
		for _, inBody := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t, httpsse.Options{})
				session := s.open()
				other := s.Later(request("1", "tools/list"), session...)
				otherID := string(mcp.ID([]byte(s.posted().body)))
				if inBody {
					s.takes = func(w http.ResponseWriter, _ *http.Request, body string) bool {
						w.Header().Set("Content-Type", "application/json")
						_, _ = io.WriteString(w, answer(string(mcp.ID([]byte(body)))))
						return true
					}
				}
				large := s.Later(request("2", "tools/list"), session...)
				if posted := s.posted(); !inBody {
					s.last().say <- message(answer(string(mcp.ID([]byte(posted.body)))))
				}
				if got := exchangetest.ReadAll(t, <-large); !strings.Contains(got, `"answer_too_large"`) || !strings.Contains(got, `"id":2`) {
					t.Errorf("%s: got %s", name, got)
				}
				s.last().say <- message(result(otherID, "well"))
				if got := exchangetest.ReadAll(t, <-other); got != result("1", "well") {
					t.Errorf("%s: the other call got %s", name, got)
				}
				if s.ended() {
					t.Errorf("%s: the session has ended", name)
				}
			})
		}
	}
}

// A message may be as large as four fifths of the bound, and keep-alive words are none.
func TestALargeMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, httpsse.Options{})
		session := s.open()
		list := s.Later(request("2", "tools/list"), session...)
		text := strings.Repeat("x", 16<<20/5)
		id := string(mcp.ID([]byte(s.posted().body)))
		s.last().say <- "event: ping\ndata: {}\n\n: x\n\ndata: alive\n\n"
		s.last().say <- message(result(id, text))
		if got := exchangetest.ReadAll(t, <-list); got != result("2", text) {
			t.Errorf("got %d bytes", len(got))
		}
	})
}

// What the server asks and nobody can be asked, it is told so with the credentials of the stream.
func TestAQuestionToNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, httpsse.Options{})
		s.open("Authorization", "Bearer one")
		s.last().say <- message(request("4", "roots/list"))
		time.Sleep(time.Second)
		if posted := s.posted(); !strings.HasPrefix(posted.body, `{"jsonrpc":"2.0","id":4,"error":`) || posted.Header.Get("Authorization") != "Bearer one" ||
			posted.Header.Get("Content-Type") != "application/json" {
			t.Errorf("got %s with %v", posted.body, posted.Header)
		}
	})
}

// A body that does not end holds up nobody for ever: the message was taken.
func TestABodyThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, httpsse.Options{})
		session := s.open()
		s.takes = func(w http.ResponseWriter, r *http.Request, _ string) bool {
			w.WriteHeader(http.StatusAccepted)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return true
		}
		began := time.Now()
		if response := s.Do(wire.MethodPost, request("1", "tools/call"), session...); response.Status != 200 || time.Since(began) != 30*time.Second {
			t.Errorf("got %d after %v", response.Status, time.Since(began))
		}
	})
}
