package h1_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/realtest"
	"berth/internal/wire"
)

// What an upstream says behind its answer is for nobody, over the kernel's connections too, where it may come right
// after: the next request is sent when that is there.
func TestNothingSaidBehindAnAnswerIsTheNextOne(t *testing.T) {
	leavesNothing(t)
	const evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	t.Cleanup(func() { listener.Close() })
	said := make(chan struct{}, 200)
	serving.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer c.Close()
				c.SetDeadline(time.Now().Add(realtest.Within))
				for readRequest(c) {
					io.WriteString(c, ok+"Content-Length: 4\r\n\r\ngood")
					said <- struct{}{} // the client has it
					io.WriteString(c, evil)
					said <- struct{}{}
				}
			})
		}
	})
	sender := mine.over(func(ctx context.Context, network, address string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	})
	t.Cleanup(sender.Close)
	target, _ := url.Parse("http://" + listener.Addr().String() + "/mcp")
	for i := range 50 {
		response, err := sender.Send(t.Context(), &exchange.Request{Method: "POST", URL: target, Header: new(wire.Header), Body: []byte("{}")}, realtest.Within)
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil || string(body) != "good" {
			t.Fatalf("request %d was given %q, %v", i, body, err)
		}
		<-said
		response.Body.Close()
		<-said
	}
}
