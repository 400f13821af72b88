package h1_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/wire"
)

// exchanged is what a client made of one answer.
type exchanged struct {
	status  int
	header  string
	length  int64
	proto   string
	body    string
	whole   bool // the body ended where its framing said
	failure string
	again   string // what came of the next request: "kept", "new", or what is wrong
}

func (e exchanged) String() string {
	return fmt.Sprintf("{%d HTTP/%s, length %d, header %q, body %.200q, whole %v, failure %q, again %s}",
		e.status, e.proto, e.length, e.header, e.body, e.whole, e.failure, e.again)
}

// ask sends two requests to an upstream that answers the first one with pieces, and with nothing more if that is the whole, and tells what
// came of it. It is for a bubble of synctest.
func ask(t testing.TB, b back, method string, pieces [][]byte, whole bool) (e exchanged) {
	u := &upstream{pieces: pieces, whole: whole, request: readRequest}
	sender := b.over(u.dial)
	target, _ := url.Parse("http://a/mcp")
	request := &exchange.Request{Method: method, URL: target, Host: "a", Header: new(wire.Header)}
	if method == wire.MethodPost {
		request.Body = []byte("{}")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		e = sendOne(t, sender, request)
	}()
	time.Sleep(100 * time.Millisecond)
	synctest.Wait()
	select {
	case <-done:
	default: // it waits for more: there is none
		u.first.CloseWrite()
		<-done
	}
	time.Sleep(time.Second) // what came behind the answer is there now
	next := sendOne(t, sender, &exchange.Request{Method: wire.MethodGet, URL: target, Host: "a", Header: new(wire.Header)})
	switch {
	case next.failure == "" && (next.status != 200 || next.body != "proper" || !strings.Contains(next.header, "X-Proper: yes\n")):
		e.again = "was given " + next.String()
	case next.failure != "":
		e.again = "failed: " + next.failure
	case u.dials > 1:
		e.again = "new"
	default:
		e.again = "kept"
	}
	sender.Close()
	u.first.Close()
	for _, other := range u.others {
		other.Close()
	}
	return e
}

// readRequest reads a request from c, a byte at a time.
func readRequest(c net.Conn) bool {
	r, err := http.ReadRequest(bufio.NewReader(oneByOne{c}))
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, r.Body)
	return err == nil
}

type oneByOne struct{ io.Reader }

func (o oneByOne) Read(p []byte) (int, error) { return o.Reader.Read(p[:min(len(p), 1)]) }

func sendOne(t testing.TB, sender exchange.Sender, request *exchange.Request) (e exchanged) {
	response, err := sender.Send(t.Context(), request, 10*time.Second)
	if err != nil {
		failed, ok := errors.AsType[*exchange.SendError](err)
		if !ok {
			t.Fatalf("%T is no SendError: %v", err, err)
		}
		e.failure = fmt.Sprintf("sent %v, refused %v, timed out %v, starved %v, garbled %v", failed.Sent, failed.Refused, failed.TimedOut, failed.Starved, failed.Garbled)
		return e
	}
	body, err := io.ReadAll(response.Body)
	response.Header.Del("Connection") // net/http's takes it away where it closes, whatever it names besides
	e = exchanged{
		status: response.Status, header: lines(response.Header), length: response.ContentLength,
		proto: wire.Version(response.ProtoMajor, response.ProtoMinor), body: string(body), whole: err == nil,
	}
	response.Body.Close()
	return e
}

var errGarbled = "sent true, refused false, timed out false, starved false, garbled true"
