package client

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/exchange/exchangetest"
	"berth/internal/wire"
)

// A connection rests from the end of an exchange on that was awaited, and not from its beginning.
func TestAConnectionRestsFromTheEndOfWhatWasAwaited(t *testing.T) {
	goOn := make(chan struct{})
	u := exchangetest.NewRude(t, func(_ int64, conn *net.TCPConn, r *http.Request) bool {
		if r.Method == wire.MethodGet {
			_, err := io.WriteString(conn, two)
			return err == nil
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
		<-goOn
		_, err := io.WriteString(conn, "2\r\n{}\r\n0\r\n\r\n")
		return err == nil
	})
	c, _ := counting(t)
	ask(t, c, u.URL, wire.MethodGet, "") // for the connection was made for the first one
	to, _ := url.Parse(u.URL)
	r, err := c.Send(t.Context(), &exchange.Request{Method: wire.MethodPost, URL: to, Header: new(wire.Header), Body: []byte("{}")}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	came := make(chan struct{})
	if waiter, ok := r.Body.(wire.Waiter); !ok || !waiter.Await(func() { close(came) }) {
		t.Skip("nothing is awaited here")
	}
	awaited := time.Now()
	close(goOn)
	<-came
	exchangetest.ReadAll(t, r)
	for _, h := range *c.hosts.Load() {
		if len(h.idle) != 1 || h.idle[0].since.Before(awaited) {
			t.Errorf("%d connections rest, since %v before that", len(h.idle), awaited.Sub(h.idle[0].since))
		}
	}
}

// A connection that took longer to make than it may rest is used again.
func TestAConnectionThatTookLongToMakeIsUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dials := 0
		c := New(Options{Dial: func(context.Context, string, string) (net.Conn, error) {
			dials++
			time.Sleep(idleTime + time.Second)
			near, far := net.Pipe()
			go answerAll(far)
			return near, nil
		}})
		defer c.Close()
		for range 3 {
			r, err := c.Send(t.Context(), &exchange.Request{Method: wire.MethodGet, URL: &url.URL{Scheme: "http", Host: "a"}, Header: new(wire.Header)}, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			exchangetest.ReadAll(t, r)
		}
		if dials != 1 {
			t.Errorf("%d connections for 3 requests one after the other", dials)
		}
	})
}

func answerAll(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		if _, err := http.ReadRequest(in); err != nil {
			return
		}
		_, _ = io.WriteString(conn, two)
	}
}
