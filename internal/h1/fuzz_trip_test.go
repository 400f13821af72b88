package h1_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/wire"

	"golang.org/x/net/http/httpguts"
)

// FuzzRequestTrip writes a request with both clients and reads what was written with both servers: all four are to
// see what was asked.
func FuzzRequestTrip(f *testing.F) {
	f.Add("POST", "/mcp?a=b", "a:1", "Mcp-Session-Id", "x", "{}")
	f.Add("GET", "/%2f//x;y?", "[::1]", "accept", "a, b\t", "")
	f.Add("DELETE", "/", "a", "X", "a\r\nContent-Length: 5", "hello")
	f.Add("GE T", "/", "a b", "Content-Length", "7", "hello")
	f.Add("HEAD", "/x y", "a\r\nX: y", "Transfer-Encoding", "chunked", "")
	f.Add("POST", "/\x00", "", "Host", "b", "")
	f.Add("OPTIONS", "*", "a", "Connection", "close", "")
	f.Add("PUT", "/", "a", "Expect", "100-continue", "hello")
	f.Add("POST", "/", "a", "Trailer", "Content-Length", "")
	f.Fuzz(func(t *testing.T, method, target, host, name, value, body string) {
		to, err := url.Parse("http://upstream" + target)
		if err != nil || to.Host != "upstream" || to.User != nil || method == "CONNECT" || len(body) > 64<<10 || len(value) > 16<<10 || len(target) > 8<<10 || len(host) > 1<<10 {
			return
		}
		switch wire.CanonicalName(name) {
		case "Content-Length", "Transfer-Encoding", "Trailer", "Host", "User-Agent", "Connection", "Upgrade", "Expect":
			return // the sender's own affair, or whoever calls it has taken them out
		}
		request := exchange.Request{Method: method, URL: to, Host: host, Header: wire.NewHeader(wire.CanonicalName(name), value, wire.CanonicalName(name), "2"), Body: []byte(body)}
		if body == "" {
			request.Body = nil
		}
		synctest.Test(t, func(t *testing.T) { tripRequest(t, &request) })
	})
}

func tripRequest(t *testing.T, request *exchange.Request) {
	got, want := written(t, mine, request), written(t, theirs, request)
	if got == "" {
		return // refused: nothing has left
	}
	if want == "" {
		t.Fatalf("%+v: net/http refuses to send %q", request, got)
	}
	reference := play(t, bare, [][]byte{[]byte(want)})
	if len(reference.seen) != 1 || !reference.seen[0].whole {
		return // net/http's own server does not take what its client sends
	}
	for _, f := range []front{ours, netHTTP} {
		o := play(t, f, [][]byte{[]byte(got)})
		if len(o.seen) == 0 && f.name == netHTTP.name {
			continue // the gate is stricter than net/http's client
		}
		if len(o.seen) == 0 {
			if gated := play(t, netHTTP, [][]byte{[]byte(got)}); len(gated.seen) == 0 {
				continue
			}
		}
		if len(o.seen) != 1 {
			t.Fatalf("%s saw %v, want one request: %q", f.name, o.seen, got)
		}
		r, other := o.seen[0], reference.seen[0]
		r.header, other.header = comparable(r.header), comparable(other.header)
		if other.length < 0 && other.body == "" {
			r.length, other.length = 0, 0 // net/http sends no chunk where it does not know that there is no body
			r.header = strings.Replace(r.header, "Content-Length: 0\n", "", 1)
		}
		if r != other {
			t.Fatalf("%s saw\n%v, want\n%v\nours wrote     %q\nnet/http wrote %q", f.name, r, other, got, want)
		}
	}
}

// written is what a client writes for a request; "" if it refuses to.
func written(t *testing.T, b back, request *exchange.Request) string {
	var raw said
	var near *duplex
	sender := b.over(func(context.Context, string, string) (net.Conn, error) {
		var far *duplex
		near, far = connect()
		go io.Copy(&raw, near)
		return far, nil
	})
	defer sender.Close()
	again := *request
	again.Header = request.Header.Clone()
	done := make(chan error, 1)
	go func() {
		response, err := sender.Send(t.Context(), &again, time.Minute)
		if err == nil {
			io.Copy(io.Discard, response.Body)
			response.Body.Close()
		}
		done <- err
	}()
	synctest.Wait()
	if near == nil {
		<-done
		return ""
	}
	text := raw.String()
	io.WriteString(near, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
	near.Close()
	<-done
	return text
}

// FuzzAnswerTrip has both servers write an answer and reads what was written with both clients.
func FuzzAnswerTrip(f *testing.F) {
	f.Add(uint16(200), uint8(0), "Content-Type", "a/b", "hello", 5, []byte{2})
	f.Add(uint16(200), uint8(0), "X", "a\r\nX-Proper: no", "hello", -1, []byte{2, 3})
	f.Add(uint16(204), uint8(1), "X\r\nY", "", "hello", -1, []byte{})
	f.Add(uint16(304), uint8(1), "Etag", "\"x\"", "", 5, []byte{})
	f.Add(uint16(200), uint8(2), "X", "1", "hello", 5, []byte{})
	f.Add(uint16(200), uint8(2), "X", "1", "hello", -1, []byte{1, 1})
	f.Add(uint16(404), uint8(4), "X", "1", "hello", -1, []byte{1, 1})
	f.Add(uint16(200), uint8(4), "X", "1", "hello", 3, []byte{1, 1})
	f.Add(uint16(200), uint8(5), "X", "1", "", -1, []byte{})
	f.Add(uint16(200), uint8(0), "X", "1", "hello", 10, []byte{})
	f.Add(uint16(205), uint8(0), "Connection", "close", "hello", -1, []byte{1, 0, 1})
	f.Fuzz(func(t *testing.T, status uint16, asked uint8, name, value, body string, length int, cuts []byte) {
		if len(body) > 64<<10 || len(value) > 16<<10 || len(cuts) > 1<<10 {
			return
		}
		a := oneAnswer{status: 200 + int(status)%400, name: wire.CanonicalName(name), value: value, length: length, pieces: split([]byte(body), cuts)}
		switch a.name {
		case "Content-Length", "Date", "Transfer-Encoding":
			return
		}
		synctest.Test(t, func(t *testing.T) { tripAnswer(t, methods[int(asked)%3], int(asked)/3%2, a) })
	})
}

// oneAnswer is a handler that gives one answer.
type oneAnswer struct {
	status      int
	name, value string
	length      int // that it announces; negative: none
	pieces      [][]byte
}

func (a oneAnswer) Serve(w wire.Client, r *wire.Request) bool {
	io.Copy(io.Discard, r.Body)
	h := w.Header()
	h.Withhold("Date")
	h.Withhold("Content-Type")
	h.Set(a.name, a.value)
	h.Add(a.name, "2")
	if a.length >= 0 {
		h.Set("Content-Length", strconv.Itoa(a.length))
	}
	w.WriteHeader(a.status)
	whole := 0
	for i, piece := range a.pieces {
		n, err := w.Write(piece)
		whole += n
		if err != nil {
			break
		}
		if i%2 == 0 {
			w.Flush()
		}
	}
	return true
}

func tripAnswer(t *testing.T, method string, minor int, a oneAnswer) {
	version := "HTTP/1.1"
	if minor == 1 {
		version = "HTTP/1.0\r\nConnection: keep-alive"
	}
	raw := method + " / " + version + "\r\nHost: a\r\n"
	if method == wire.MethodPost {
		raw += "Content-Length: 0\r\n"
	}
	got, want := answerOf(t, ours, raw+"\r\n", a), answerOf(t, netHTTP, raw+"\r\n", a)
	reference := ask(t, theirs, method, [][]byte{[]byte(want)}, true)
	clean := httpguts.ValidHeaderFieldName(a.name) && httpguts.ValidHeaderFieldValue(a.value)
	for _, b := range []back{mine, theirs} {
		e := ask(t, b, method, [][]byte{[]byte(got)}, true)
		if fault := reread(e, reference, clean, a); fault != "" {
			t.Fatalf("%s, read by %s\n%v, want\n%v\nour server wrote %q\nnet/http wrote   %q", fault, b.name, e, reference, got, want)
		}
	}
}

// reread says how an answer of ours was read that net/http's was not.
func reread(e, want exchanged, clean bool, a oneAnswer) string {
	switch {
	case !clean && (want.failure != "" || e.failure == errGarbled): // both servers write what nobody may read
		return ""
	case e.failure != want.failure:
		return "the failure differs"
	case e.failure != "":
		return ""
	case e.status != want.status:
		return "the status differs"
	case e.whole && (!want.whole || e.body != want.body):
		return "a whole body differs"
	case !e.whole && want.whole:
		return "the body is not whole"
	case clean && framed(e.header) != framed(want.header):
		return "the header differs"
	case !clean && strings.Count(framed(e.header), "\n") > strings.Count(framed(want.header), "\n"):
		return "there is more in the header"
	}
	return ""
}

// framed is a header without what frames and closes, which servers choose.
func framed(header string) string {
	var kept []string
	for line := range strings.Lines(comparable(header)) {
		if !strings.HasPrefix(line, "Content-Length:") && !strings.HasPrefix(line, "Connection:") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// answerOf is what a server answers raw with.
func answerOf(t *testing.T, f front, raw string, h handler) string {
	listener := newHandoff()
	stop := f.serve(listener, h)
	near, err := listener.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out said
	go io.Copy(&out, near)
	io.WriteString(near, raw)
	time.Sleep(settled)
	near.Close()
	stop()
	synctest.Wait()
	return out.String()
}
