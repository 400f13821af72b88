package server

import (
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/wire"
)

const twoAsked = "GET /held HTTP/1.1\r\nHost: a\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

// holding is a handler that leaves /held to f.
func holding(f func(w wire.Client, r *wire.Request, end func(whole bool))) Handler {
	return serves(func(w wire.Client, r *wire.Request) bool {
		if r.URL.Path == "/held" {
			f(w, r, w.(wire.Holder).Hold())
			return true
		}
		_, err := w.Write([]byte("next"))
		return err == nil
	})
}

// A connection whose answer was held goes on with the next request once that has ended, before its handler has returned or after.
func TestHeldAnswerEndsLater(t *testing.T) {
	for name, end := range map[string]func(said func()){
		"at once": func(said func()) { said() },
		"later":   func(said func()) { go said() },
		"after the handler has long returned": func(said func()) {
			time.AfterFunc(10*time.Millisecond, said)
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, addr := listen(t, Options{Handler: holding(func(w wire.Client, _ *wire.Request, over func(bool)) {
				end(func() {
					_, _ = w.Write([]byte("held"))
					over(true)
				})
			})})
			c := dial(t, addr)
			if _, err := io.WriteString(c, twoAsked); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(c)
			if first, second, _ := strings.Cut(string(got), "\r\n\r\nheld"); err != nil || !strings.HasPrefix(first, "HTTP/1.1 200") || !strings.HasSuffix(second, "\r\n\r\nnext") {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// A header that was sent is given back once its answer is held; one that was not is what will be sent.
func TestHeldAnswerGivesItsHeaderBack(t *testing.T) {
	for name, want := range map[string]bool{"sent": false, "not sent": true} {
		t.Run(name, func(t *testing.T) {
			had := make(chan bool, 1)
			_, addr := listen(t, Options{Handler: serves(func(w wire.Client, _ *wire.Request) bool {
				w.Header().Set("X-Own", "1")
				if name == "sent" {
					w.WriteHeader(wire.StatusOK)
				}
				end := w.(wire.Holder).Hold()
				had <- !w.Header().Lacks("X-Own")
				_, _ = w.Write([]byte("held"))
				end(true)
				return true
			})})
			c := dial(t, addr)
			if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(c); err != nil || !strings.Contains(string(got), "X-Own: 1\r\n") || <-had != want {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// A held answer that is not whole ends its connection where it is.
func TestHeldAnswerIsAborted(t *testing.T) {
	_, addr := listen(t, Options{Handler: holding(func(w wire.Client, _ *wire.Request, end func(bool)) {
		_, _ = w.Write([]byte("some"))
		_ = w.Flush()
		go end(false)
	})})
	c := dial(t, addr)
	if _, err := io.WriteString(c, twoAsked); err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(c); strings.Contains(string(got), "next") || strings.Contains(string(got), "0\r\n\r\n") || !strings.Contains(string(got), "some") {
		t.Errorf("got %q", got)
	}
}

// The client's departure, and the server's end, are told to who holds an answer; what it says ends the connection.
func TestHeldAnswerHearsOfTheEnd(t *testing.T) {
	for name, leave := range map[string]func(s *Server, c net.Conn){
		"the client leaves": func(_ *Server, c net.Conn) { _ = c.Close() },
		"the server ends":   func(s *Server, _ net.Conn) { _ = s.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			holds, ended := make(chan struct{}), make(chan struct{})
			var over atomic.Bool
			s, addr := listen(t, Options{Handler: holding(func(_ wire.Client, r *wire.Request, end func(bool)) {
				gone := r.Context().Done()
				go func() {
					close(holds)
					<-gone
					over.Store(true)
					end(false)
					close(ended)
				}()
			})})
			c := dial(t, addr)
			if _, err := io.WriteString(c, "GET /held HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			await(t, "the request", holds)
			if over.Load() {
				t.Error("the context of an answer that is held has ended with its handler")
			}
			leave(s, c)
			await(t, "the end of the context", ended)
			await(t, "the end of the connection", s.whenEmpty())
		})
	}
}
