package client

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"berth/internal/exchange"
	"berth/internal/exchange/exchangetest"
	"berth/internal/wire"
)

// recorded is what c puts on the wire for r: the first line, the fields sorted, the body.
func recorded(t *testing.T, c exchange.Sender, r *exchange.Request, said <-chan []string) []string {
	t.Helper()
	copied := *r
	copied.Header = r.Header.Clone()
	response, err := c.Send(t.Context(), &copied, 0)
	if err != nil {
		return []string{"not sent"}
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return <-said
}

// recorder is an upstream that tells what it was sent.
func recorder(t *testing.T) (string, <-chan []string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("Listen: %v", err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	said := make(chan []string, 1)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			var raw strings.Builder
			r, err := http.ReadRequest(bufio.NewReader(io.TeeReader(conn, &raw)))
			if err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
				head, body, _ := strings.Cut(raw.String(), "\r\n\r\n")
				lines := strings.Split(head, "\r\n")
				slices.Sort(lines[1:])
				said <- append(lines, body)
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
			}
			_ = conn.Close()
		}
	}()
	return listener.Addr().String(), said
}

// What goes out is what net/http would send, byte for byte but for the order of fields. One differs: a body of POST that is
// empty has a length here, and is chunked there.
func TestRequestsAreThoseOfNetHTTP(t *testing.T) {
	address, said := recorder(t)
	usual := wire.NewHeader("Accept", "application/json", "Accept", "text/event-stream", "Mcp-Name", "x", "User-Agent", "", "X-Empty", "")
	usual.Withhold("X-Nil")
	with := func(name string, values ...string) *wire.Header {
		h := usual.Clone()
		h.Del(name)
		for _, value := range values {
			h.Add(name, value)
		}
		return h
	}
	at := func(rest string) *url.URL {
		u, err := url.Parse("http://" + address + rest)
		if err != nil {
			t.Fatalf("Parse: %v", err)
		}
		return u
	}
	for name, r := range map[string]*exchange.Request{
		"poll":             poll(address),
		"own":              {Method: "POST", URL: at("/mcp"), Header: new(wire.Header), Body: []byte("{}")},
		"get":              {Method: "GET", URL: at("/mcp?a=b&c=%20"), Header: usual},
		"no method":        {URL: at("/mcp"), Header: usual},
		"no path":          {Method: "GET", URL: at(""), Header: usual},
		"query alone":      {Method: "GET", URL: at("?"), Header: usual},
		"escaped":          {Method: "GET", URL: at("/a%2Fb/ä b"), Header: usual},
		"star":             {Method: "OPTIONS", URL: &url.URL{Scheme: "http", Host: address, Path: "*"}, Header: usual},
		"opaque":           {Method: "GET", URL: &url.URL{Scheme: "http", Host: address, Opaque: "/o"}, Header: usual},
		"delete":           {Method: "DELETE", URL: at("/mcp"), Header: usual},
		"delete, a body":   {Method: "DELETE", URL: at("/mcp"), Header: usual, Body: []byte("{}")},
		"head":             {Method: "HEAD", URL: at("/mcp"), Header: usual},
		"an agent":         {Method: "POST", URL: at("/mcp"), Header: with("User-Agent", " a b ", "c"), Body: []byte("{}")},
		"a host":           {Method: "POST", URL: at("/mcp"), Host: "Front.example:81", Header: usual, Body: []byte("{}")},
		"another alphabet": {Method: "POST", URL: at("/mcp"), Host: "bücher.example:81", Header: usual, Body: []byte("{}")},
		"no host":          {Method: "POST", URL: at("/mcp"), Host: "a b/c", Header: usual, Body: []byte("{}")},
		"a zone":           {Method: "POST", URL: at("/mcp"), Host: "[fe80::1%25en0]:81", Header: usual, Body: []byte("{}")},
		"a bare zone":      {Method: "POST", URL: at("/mcp"), Host: "[fe80::1%en0]:81", Header: usual, Body: []byte("{}")},
		"a length":         {Method: "POST", URL: at("/mcp"), Header: with("Content-Length", "99"), Body: []byte("{}")},
		"a coding":         {Method: "POST", URL: at("/mcp"), Header: with("Transfer-Encoding", "chunked"), Body: []byte("{}")},
		"a host field":     {Method: "POST", URL: at("/mcp"), Header: with("Host", "other"), Body: []byte("{}")},
		"trailer":          {Method: "POST", URL: at("/mcp"), Header: with("Trailer", "X"), Body: []byte("{}")},
		"blanks":           {Method: "POST", URL: at("/mcp"), Header: with("X-A", " \ta\t b "), Body: []byte("{}")},
		"Latin":            {Method: "POST", URL: at("/mcp"), Header: with("X-A", "\xe4ä"), Body: []byte("{}")},
		"a line":           {Method: "POST", URL: at("/mcp"), Header: with("X-A", "a\r\nX-B: c"), Body: []byte("{}")},
		"a zero":           {Method: "POST", URL: at("/mcp"), Header: with("X-A", "\x00"), Body: []byte("{}")},
		"a bad name":       {Method: "POST", URL: at("/mcp"), Header: with("X A", "b"), Body: []byte("{}")},
		"an empty name":    {Method: "POST", URL: at("/mcp"), Header: with("", "b"), Body: []byte("{}")},
		"a bad method":     {Method: "PO ST", URL: at("/mcp"), Header: usual, Body: []byte("{}")},
		"a control":        {Method: "GET", URL: &url.URL{Scheme: "http", Host: address, Path: "/", RawQuery: "a\nb"}, Header: usual},
		"a blank in query": {Method: "GET", URL: &url.URL{Scheme: "http", Host: address, Path: "/", RawQuery: "a b"}, Header: usual},
	} {
		var got [2][]string
		var running sync.WaitGroup
		for i, c := range []exchange.Sender{New(Options{}), exchange.NewClient(0)} {
			running.Go(func() { got[i] = recorded(t, c, r, said) })
			running.Wait()
		}
		if !slices.Equal(got[0], got[1]) {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got[0], got[1])
		}
	}
}

// What cannot be written is not sent, and keeps no connection from its next exchange.
func TestAnUnfitRequestIsNotSent(t *testing.T) {
	u := saying(t, two, true)
	client, _ := counting(t)
	r := exchangetest.Post(t, t.Context(), u.URL, "{}")
	r.Header.Set("X-A", "a\nb")
	failed := exchangetest.Fails(t, client, r, 0)
	if exchangetest.Is(t, failed, false, false, false); failed.Garbled {
		t.Errorf("got %+v", failed)
	}
}
