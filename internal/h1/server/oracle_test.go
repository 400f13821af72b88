package server

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"testing"

	"berth/internal/wire/nethttp"
)

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
	other := &http.Server{Handler: nethttp.Carry(serves(kindOf)), ErrorLog: log.New(io.Discard, "", 0)}
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
