package client

import (
	"crypto/tls"
	"io"
	"net"
	"testing"

	"berth/internal/exchange/exchangetest"
	"berth/internal/realtest"
)

// A connection that is given back while others wait for one is looked at as one that was idle: neither what came behind an answer
// nor the connection's end is the next one's.
func TestAConnectionThatIsHandedOnIsLookedAt(t *testing.T) {
	const first, second = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst", "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond"
	for name, behind := range map[string]func(io.WriteCloser){
		"what nobody asked for": func(c io.WriteCloser) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother") },
		"its end":               func(c io.WriteCloser) { _ = c.Close() },
	} {
		for _, secured := range []bool{true, false} {
			server, trust := secure(t, nil, nil)
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = listener.Close() })
			url := "http://" + listener.Addr().String()
			if secured {
				listener, url = tls.NewListener(listener, server.TLS), "https://"+listener.Addr().String()
			}
			said := make(chan struct{})
			serve := func(say func(net.Conn)) {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				t.Cleanup(func() { _ = conn.Close() })
				if _, err := conn.Read(make([]byte, 1<<10)); err == nil {
					say(conn)
				}
			}
			go func() {
				serve(func(c net.Conn) {
					_, _ = io.WriteString(c, first)
					behind(c)
					close(said)
				})
				serve(func(c net.Conn) { _, _ = io.WriteString(c, second) })
			}()
			c := New(Options{TLS: trust})
			t.Cleanup(c.Close)
			r, err := exchangetest.Send(c, exchangetest.Post(t, t.Context(), url, "{}"), 0)
			if err != nil {
				t.Fatal(err)
			}
			<-said
			h := only(c)
			h.mu.Lock()
			h.dialling = maxDials // no more can be made for now
			h.mu.Unlock()
			answer := make(chan string, 1)
			go func() {
				r, err := exchangetest.Send(c, exchangetest.Post(t, t.Context(), url, "{}"), 0)
				if err != nil {
					answer <- err.Error()
					return
				}
				answer <- exchangetest.ReadAll(t, r)
			}()
			realtest.Eventually(t, "the next one waits", func() bool {
				h.mu.Lock()
				defer h.mu.Unlock()
				return len(h.line) == 1
			})
			if got := exchangetest.ReadAll(t, r); got != "first" {
				t.Errorf("%s, TLS %v: got %q", name, secured, got)
			}
			for range maxDials {
				h.dialled(false)
			}
			if got := <-answer; got != "second" {
				t.Errorf("behind an answer comes %s, TLS %v: the next one got %q", name, secured, got)
			}
		}
	}
}

// only is the only upstream that c knows.
func only(c *Client) *host {
	for _, h := range *c.hosts.Load() {
		return h
	}
	return nil
}
