package server

import (
	"io"
	"strings"
	"testing"

	"berth/internal/wire"
)

// kinds are what the tests' handler does, by the path.
var kinds = map[string]serves{
	"/empty": func(w wire.Client, r *wire.Request) bool { return true },
	"/echo": func(w wire.Client, r *wire.Request) bool {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(400)
			return true
		}
		_, err = w.Write(b)
		return err == nil
	},
	"/length": func(w wire.Client, r *wire.Request) bool {
		w.Header().Set("Content-Length", "2")
		w.WriteHeader(201)
		w.Write([]byte("ok"))
		return true
	},
	"/short": func(w wire.Client, r *wire.Request) bool {
		w.Header().Set("Content-Length", "3")
		w.Write([]byte("ok"))
		return true
	},
	"/stream": func(w wire.Client, r *wire.Request) bool {
		w.Write([]byte("one"))
		w.Flush()
		w.Write([]byte("two"))
		w.Flush()
		return true
	},
	"/cut": func(w wire.Client, r *wire.Request) bool {
		w.Write([]byte("one"))
		w.Flush()
		return false
	},
	"/none": func(w wire.Client, r *wire.Request) bool { return false },
	"/204":  func(w wire.Client, r *wire.Request) bool { w.WriteHeader(204); return true },
	"/304": func(w wire.Client, r *wire.Request) bool {
		w.Header().Set("Content-Length", "7")
		w.WriteHeader(304)
		return true
	},
	"/refuse": func(w wire.Client, r *wire.Request) bool { w.WriteHeader(403); return true },
	"/close":  func(w wire.Client, r *wire.Request) bool { w.Header().Set("Connection", "close"); return true },
	"/bare": func(w wire.Client, r *wire.Request) bool {
		w.Header().Withhold("Date")
		w.Header().Withhold("Content-Type")
		return true
	},
	"/lines": func(w wire.Client, r *wire.Request) bool {
		w.Header().Withhold("Date")
		w.Header().Set("X", " a\r\nB: c\x00 ")
		w.Header().Set("a b", "x")
		return true
	},
	"/early": func(w wire.Client, r *wire.Request) bool { w.WriteHeader(103); return true },
}

func kindOf(w wire.Client, r *wire.Request) bool { return kinds[r.URL.Path](w, r) }

const (
	ok    = "HTTP/1.1 200 OK\r\n"
	dated = "Date: D\r\n"
	shut  = "Connection: close\r\n"
	none  = "Content-Length: 0\r\n"
	empty = ok + none + dated + "\r\n"
	bad   = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"
)

func get(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n" }

func post(path, fields, body string) string {
	return "POST " + path + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n" + body
}

// wires is what goes in, and what comes out.
var wires = map[string]struct{ in, out string }{
	"nothing":         {"", ""},
	"cut in the line": {"GET /empty HT", bad},
	"cut in the head": {"GET /empty HTTP/1.1\r\nHos", bad},
	"empty":           {get("/empty"), empty},
	"two":             {get("/empty") + get("/length"), empty + "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n" + dated + "\r\nok"},
	"echo":            {post("/echo", "Content-Length: 5\r\n", "hello") + get("/empty"), ok + "Content-Length: 5\r\n" + dated + "\r\nhello" + empty},
	"echo of chunks": {post("/echo", "Transfer-Encoding: chunked\r\n", "5;x\r\nhello\r\n1\r\n!\r\n0\r\nA: b\r\n\r\n") + get("/empty"),
		ok + "Content-Length: 6\r\n" + dated + "\r\nhello!" + empty},
	"wrong chunk": {post("/echo", "Transfer-Encoding: chunked\r\n", "5\r\nhello!\r\n0\r\n\r\n") + get("/empty"),
		"HTTP/1.1 400 Bad Request\r\n" + none + dated + shut + "\r\n"},
	"cut in the body":  {post("/echo", "Content-Length: 6\r\n", "hello"), "HTTP/1.1 400 Bad Request\r\n" + none + dated + shut + "\r\n"},
	"large":            {post("/echo", "Content-Length: 5000\r\n", strings.Repeat("x", 5000)), ok + "Transfer-Encoding: chunked\r\n" + dated + "\r\n1388\r\n" + strings.Repeat("x", 5000) + "\r\n0\r\n\r\n"},
	"unread":           {post("/refuse", "Content-Length: 5\r\n", "hello") + get("/empty"), "HTTP/1.1 403 Forbidden\r\n" + none + dated + "\r\n" + empty},
	"stream":           {get("/stream") + get("/empty"), ok + "Transfer-Encoding: chunked\r\n" + dated + "\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n" + empty},
	"cut":              {get("/cut") + get("/empty"), ok + "Transfer-Encoding: chunked\r\n" + dated + "\r\n3\r\none\r\n"},
	"none":             {get("/none") + get("/empty"), ""},
	"short":            {get("/short") + get("/empty"), ok + "Content-Length: 3\r\n" + dated + "\r\nok"},
	"204":              {get("/204") + get("/empty"), "HTTP/1.1 204 No Content\r\n" + dated + "\r\n" + empty},
	"304":              {get("/304") + get("/empty"), "HTTP/1.1 304 Not Modified\r\n" + dated + "\r\n" + empty},
	"early":            {get("/early"), "HTTP/1.1 103 " + wire.Phrase(103) + "\r\n\r\n" + empty},
	"bare":             {get("/bare"), ok + none + "\r\n"},
	"lines":            {get("/lines"), ok + "X: a  B: c \r\n" + none + "\r\n"},
	"close":            {get("/close") + get("/empty"), ok + none + dated + shut + "\r\n"},
	"asked to close":   {post("/empty", "Connection: x, Close\r\n", "") + get("/empty"), ok + none + dated + shut + "\r\n"},
	"head":             {"HEAD /length HTTP/1.1\r\nHost: a\r\n\r\n" + get("/empty"), "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n" + dated + "\r\n" + empty},
	"head of a stream": {"HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n" + get("/empty"), ok + dated + "\r\n" + empty},
	"1.0":              {"GET /length HTTP/1.0\r\n\r\n" + get("/empty"), "HTTP/1.0 201 Created\r\nContent-Length: 2\r\n" + dated + "\r\nok"},
	"1.0 kept":         {"GET /length HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + get("/empty"), "HTTP/1.0 201 Created\r\nContent-Length: 2\r\n" + dated + "Connection: keep-alive\r\n\r\nok" + empty},
	"1.0 stream":       {"GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + get("/empty"), "HTTP/1.0 200 OK\r\n" + dated + "\r\nonetwo"},
	"expects":          {post("/echo", "Expect: 100-Continue\r\nContent-Length: 2\r\n", "hi") + get("/empty"), "HTTP/1.1 100 Continue\r\n\r\n" + ok + "Content-Length: 2\r\n" + dated + "\r\nhi" + empty},
	"expects, refused": {post("/refuse", "Expect: 100-continue\r\nContent-Length: 2\r\n", "hi") + get("/empty"), "HTTP/1.1 403 Forbidden\r\n" + none + dated + shut + "\r\n"},
	"expects else":     {post("/echo", "Expect: tea\r\nContent-Length: 2\r\n", "hi") + get("/empty"), "HTTP/1.1 417 Expectation Failed\r\n" + none + dated + shut + "\r\n"},
	"expects, 1.0":     {"POST /echo HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n" + dated + "\r\nhi"},
	"two framings":     {get("/empty") + post("/echo", "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n") + get("/empty"), empty + bad},
	"too long":         {"GET /empty HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("y", 9000) + "\r\n\r\n", strings.ReplaceAll(bad, "400 Bad Request", "431 Request Header Fields Too Large")},
	"fits":             {"GET /empty HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("y", 8000) + "\r\n\r\n", empty},
}

func TestWhatIsAnswered(t *testing.T) {
	front := newHandoff()
	serveOn(t, Options{Handler: serves(kindOf), MaxHead: 8 << 10}, front)
	for name, c := range wires {
		steps := []int{1, 2, 3, 7, len(c.in) + 1}
		for at := range min(len(c.in), 300) {
			steps = append(steps, at+1)
		}
		for _, step := range steps {
			if got := play(front, c.in, step); got != c.out {
				t.Errorf("%s in pieces of %d: got\n%s\nwant\n%s", name, step, got, c.out)
				break
			}
		}
	}
}

// A request ends where it ends, whatever of it comes at once.
func TestWhatIsAnsweredToTwoPieces(t *testing.T) {
	front := newHandoff()
	serveOn(t, Options{Handler: serves(kindOf)}, front)
	raw := wires["echo of chunks"].in + wires["expects"].in + wires["echo"].in
	want := wires["echo of chunks"].out + wires["expects"].out + wires["echo"].out
	for first := 1; first < len(raw); first++ {
		s := &twoPieces{script: script{step: 1 << 20, closed: make(chan struct{}), in: raw[first:]}, first: raw[:first]}
		front.conns <- s
		<-s.closed
		if got := dates.ReplaceAllString(s.out.String(), dated); got != want {
			t.Fatalf("%d bytes first: got\n%s", first, got)
		}
	}
}

type twoPieces struct {
	script
	first string
}

func (s *twoPieces) Read(p []byte) (int, error) {
	if s.first != "" {
		n := copy(p, s.first)
		s.first = s.first[n:]
		return n, nil
	}
	return s.script.Read(p)
}

// A field whose name has a number, and which was judged, is sent by another way than others: what comes of it is the same, whatever it
// says of the answer.
func TestFieldsOfUsualNamesAreSentAsOthersAre(t *testing.T) {
	front := newHandoff()
	var fields []wire.Field
	status := 0
	serveOn(t, Options{Handler: serves(func(w wire.Client, r *wire.Request) bool {
		for _, f := range fields {
			w.Header().Append(f)
		}
		w.WriteHeader(status)
		w.Write([]byte("ok"))
		return true
	})}, front)
	answer := func(said ...wire.Field) string {
		fields = said
		return play(front, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 1<<10)
	}
	for _, name := range wire.UsualNames() {
		for _, value := range []string{"", "a", "close", "2", "chunked"} {
			for _, status = range []int{200, 204, 304} {
				plain, own := wire.Field{Name: name, Value: value}, wire.Own(name, value)
				last := wire.Field{Name: "X-Last", Value: "z"}
				got, want := answer(own, own, last), answer(plain, plain, last)
				if got != want || !strings.Contains(got, "\r\nX-Last: z\r\n") {
					t.Errorf("%d, %s: %q: got %q, want %q", status, name, value, got, want)
				}
			}
		}
	}
}
