package server

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"strings"
	"testing"

	"berth/internal/wire"
)

// byNetHTTP serves the tests' handler by net/http.
func byNetHTTP(w http.ResponseWriter, r *http.Request) {
	request := (&wire.Request{Method: r.Method, URL: r.URL, Header: wire.FromLists(r.Header), Body: r.Body}).WithContext(r.Context())
	c := &netHTTP{w, http.NewResponseController(w), new(wire.Header), false}
	if !kindOf(c, request) {
		panic(http.ErrAbortHandler)
	}
	c.begin(http.StatusOK)
}

type netHTTP struct {
	http.ResponseWriter
	*http.ResponseController
	header *wire.Header
	begun  bool // the final status was given
}

func (c *netHTTP) begin(status int) {
	if !c.begun {
		maps.Copy(c.ResponseWriter.Header(), c.header.Lists())
		c.begun = status >= http.StatusOK
		c.ResponseWriter.WriteHeader(status)
	}
}

func (c *netHTTP) Header() *wire.Header   { return c.header }
func (c *netHTTP) WriteHeader(status int) { c.begin(status) }

func (c *netHTTP) Write(b []byte) (int, error) {
	c.begin(http.StatusOK)
	return c.ResponseWriter.Write(b)
}

func (c *netHTTP) Flush() error {
	c.begin(http.StatusOK)
	return c.ResponseController.Flush()
}

// told is what answers say, line ends and the order of fields aside.
func told(answers string) (all []string) {
	in := bufio.NewReader(strings.NewReader(answers))
	for {
		a, err := http.ReadResponse(in, nil)
		if err != nil {
			return append(all, err.Error())
		}
		body, err := io.ReadAll(a.Body)
		if a.StatusCode/100 != 4 { // it is guessed
			a.Header.Del("Content-Type")
		}
		all = append(all, fmt.Sprint(a.Status, a.Header, a.ContentLength, a.TransferEncoding, a.Close, string(body), err))
	}
}

// To ordinary requests net/http's server says the same.
func TestNetHTTPAnswersTheSame(t *testing.T) {
	fronts := []*handoff{newHandoff(), newHandoff()}
	serveOn(t, Options{Handler: serves(kindOf), MaxHead: 8 << 10}, fronts[0])
	other := &http.Server{Handler: http.HandlerFunc(byNetHTTP), ErrorLog: log.New(io.Discard, "", 0)}
	go other.Serve(fronts[1])
	t.Cleanup(func() { other.Close() })
	differs := map[string]string{
		"wrong chunk": "net/http takes the size for the end", "two framings": "package head is stricter", "too long": "its limit is higher",
		"cut in the body": "it does not say that it closes", "lines": "it lets NUL through", "early": "wire does not name that status",
		"head of a stream": "played without a reader for HEAD", "head": "played without a reader for HEAD",
	}
	for name, c := range wires {
		if _, meant := differs[name]; meant {
			continue
		}
		ours, theirs := told(play(fronts[0], c.in, len(c.in)+1)), told(play(fronts[1], c.in, len(c.in)+1))
		if fmt.Sprint(ours) != fmt.Sprint(theirs) {
			t.Errorf("%s:\n got %q\nwant %q", name, ours, theirs)
		}
	}
}
