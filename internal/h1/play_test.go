package h1_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/wire"
)

// request is what a handler saw of one.
type request struct {
	method, target, host string
	url                  string // in its parts
	header               string // sorted, "name: value" a line
	length               int64
	proto                string
	body                 string
	whole                bool // the body ended where its framing said
}

func (r request) String() string {
	return fmt.Sprintf("{%s %s HTTP/%s, host %q, length %d, header %q, body %.200q, whole %v}",
		r.method, r.target, r.proto, r.host, r.length, r.header, r.body, r.whole)
}

// recorder is a handler that notes what it sees and answers 200, or 400 if the body did not end well.
type recorder struct {
	mu   sync.Mutex // guards seen
	seen []request
}

func (rec *recorder) Serve(w wire.Client, r *wire.Request) bool {
	body, err := io.ReadAll(r.Body)
	rec.mu.Lock()
	rec.seen = append(rec.seen, request{
		strings.Clone(r.Method), r.URL.String(), r.Host, parts(r.URL), lines(r.Header), r.ContentLength,
		wire.Version(r.ProtoMajor, r.ProtoMinor), string(body), err == nil,
	})
	rec.mu.Unlock()
	w.Header().Set("Date", "now")
	if err != nil {
		w.WriteHeader(wire.StatusBadRequest)
		return true
	}
	w.Header().Set("Content-Length", "2")
	w.WriteHeader(wire.StatusOK)
	if r.Method != wire.MethodHead {
		io.WriteString(w, "ok")
	}
	return true
}

// parts are those of a URL that its text may hide.
func parts(u *url.URL) string {
	return fmt.Sprintf("%q %q %v %q %q %q %v %q %q", u.Scheme, u.Opaque, u.User, u.Host, u.Path, u.RawPath, u.ForceQuery, u.RawQuery, u.Fragment)
}

// lines is a header, a line each value, sorted by name.
func lines(h *wire.Header) string {
	lists := h.Lists()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		for _, value := range lists[name] {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	return b.String()
}

// outcome is what became of one connection.
type outcome struct {
	seen    []request
	answers []answer
	rest    string // of what was answered: no answer could be read from it
	stays   bool   // the connection was open when all had been said and answered
	early   int    // bytes that were answered before the client said that it had no more to say
	raw     string // all that was answered
}

// refused reports whether the server ended the connection over what it was sent, and not over its end.
func (o outcome) refused() bool {
	last := len(o.seen) - 1
	cut := last >= 0 && !o.seen[last].whole
	return o.early == len(o.raw) && (cut || len(o.answers) > len(o.seen))
}

// said is what a peer has said so far.
type said struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// statuses are those of the answers.
func (o outcome) statuses() string {
	var all []string
	for _, a := range o.answers {
		all = append(all, fmt.Sprint(a.status))
	}
	return strings.Join(all, " ")
}

// whole lists the requests that handlers saw to their end.
func (o outcome) whole() string {
	var all []string
	for _, r := range o.seen {
		if r.whole {
			all = append(all, r.method+" "+r.target+" "+r.body)
		}
	}
	return strings.Join(all, "|")
}

// answer is what a client saw of one.
type answer struct {
	status int
	body   string
	close  bool
}

// settled is longer than a server lingers on a connection that it gives up.
const settled = 10 * time.Second

// play sends pieces to a server over one connection, one after another, and tells what became of it. It is for a bubble
// of synctest.
func play(t testing.TB, f front, pieces [][]byte) (o outcome) {
	listener, rec := newHandoff(), new(recorder)
	stop := f.serve(listener, rec)
	near, err := listener.dial(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var out said
	var running sync.WaitGroup
	running.Go(func() { io.Copy(&out, near) })
	running.Go(func() {
		for _, piece := range pieces {
			if _, err := near.Write(piece); err != nil {
				return
			}
		}
	})
	time.Sleep(settled)
	synctest.Wait()
	o.stays, o.early = !near.peer.isClosed(), len(out.String())
	near.CloseWrite()
	time.Sleep(settled)
	stop()
	near.Close()
	running.Wait()
	o.seen, o.raw = rec.seen, out.String()
	o.read()
	return o
}

// read takes the answers apart. An informational one is none.
func (o *outcome) read() {
	in := bufio.NewReader(strings.NewReader(o.raw))
	for {
		if _, err := in.Peek(1); err != nil {
			return
		}
		before := in.Buffered()
		asked := &http.Request{Method: http.MethodGet}
		if n := len(o.answers); n < len(o.seen) {
			asked.Method = o.seen[n].method
		}
		r, err := http.ReadResponse(in, asked)
		if err != nil {
			rest, _ := io.ReadAll(in)
			o.rest = fmt.Sprintf("%v, %d bytes before %q", err, before, rest)
			return
		}
		if r.StatusCode < 200 {
			continue
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			o.rest = err.Error()
		}
		o.answers = append(o.answers, answer{r.StatusCode, string(body), r.Close})
	}
}
