package framing

import (
	"bufio"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// typical is a tools/call as MCP clients send it, with a body of 1 KiB.
func typical() []byte {
	return []byte(post("User-Agent: node\nAccept: application/json, text/event-stream\n"+
		"Accept-Encoding: gzip, deflate\nAccept-Language: *\nSec-Fetch-Mode: cors\n"+
		"Authorization: Bearer "+strings.Repeat("a", 200)+"\nContent-Type: application/json\n"+
		"Mcp-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: slow_compute\n"+
		"Content-Length: 1024\nConnection: keep-alive\n", strings.Repeat("a", 1024)))
}

// BenchmarkStream is what the judging itself costs.
func BenchmarkStream(b *testing.B) {
	raw := typical()
	s := stream{maxHeader: defaultMaxHeader}
	s.next()
	b.ReportAllocs()
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if _, err := s.pass(raw); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkServer alternates exchanges over a kept connection on loopback with and
// without the gate, and reports the ratio of their times.
func BenchmarkServer(b *testing.B) {
	var spent [2]time.Duration
	var exchanges [2]func()
	for i := range exchanges {
		exchanges[i] = exchange(b, i == 1)
	}
	b.ReportAllocs()
	for first := 0; b.Loop(); first ^= 1 {
		for _, i := range []int{first, first ^ 1} {
			start := time.Now()
			exchanges[i]()
			spent[i] += time.Since(start)
		}
	}
	b.ReportMetric(float64(spent[1])/float64(spent[0]), "gated/bare")
}

// exchange starts a server and returns one exchange with it.
func exchange(b *testing.B, gated bool) func() {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	addr := inner.Addr().String()
	if gated {
		inner = NewListener(inner, 0)
	}
	srv := &http.Server{
		Handler:  http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }),
		ErrorLog: log.New(io.Discard, "", 0),
	}
	go srv.Serve(inner)
	b.Cleanup(func() { srv.Close() })
	c, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	in, raw := bufio.NewReader(c), typical()
	return func() {
		if _, err := c.Write(raw); err != nil {
			b.Fatal(err)
		}
		if _, err := http.ReadResponse(in, nil); err != nil {
			b.Fatal(err)
		}
	}
}
