package server

import (
	"bytes"
	"io"
	"testing"
	"time"

	"berth/internal/wire"
)

const poll = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: bench\r\nContent-Length: 60\r\nAccept: application/json, text/event-stream\r\n" +
	"Authorization: Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9\r\nContent-Type: application/json\r\nMcp-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: 3a1c4be0f3\r\n\r\n" +
	`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{}   }`

var result = []byte(`{"jsonrpc":"2.0"}`)

// reads returns a handler, for one connection, that reads the body and answers with a header of its own.
func reads() serves {
	p := make([]byte, 256)
	return func(w wire.Client, r *wire.Request) bool {
		for {
			if _, err := r.Body.Read(p); err == io.EOF {
				break
			}
		}
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Content-Length", "17")
		w.SetWriteDeadline(time.Now().Add(30 * time.Second))
		w.WriteHeader(200)
		_, err := w.Write(result)
		return err == nil && r.Context().Err() == nil
	}
}

func BenchmarkKeptConnection(b *testing.B) {
	_, addr := listen(b, Options{Handler: reads(), HeaderRead: 5e9, Idle: 180e9})
	c := dial(b, addr)
	question, p := []byte(poll), make([]byte, 4096)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Write(question); err != nil {
			b.Fatal(err)
		}
		if n, err := c.Read(p); err != nil || !bytes.HasSuffix(p[:n], result) {
			b.Fatalf("got %q, %v", p[:n], err)
		}
	}
}

// tireless is a connection whose client asks n times, and listens to nothing.
type tireless struct {
	script
	n int
}

func (c *tireless) Read(p []byte) (int, error) {
	if c.n--; c.n < 0 {
		return 0, io.EOF
	}
	return copy(p, poll), nil
}

func (*tireless) Write(p []byte) (int, error) { return len(p), nil }

// What a request takes beside the kernel and the scheduler.
func BenchmarkWithoutKernel(b *testing.B) {
	s := New(Options{Handler: reads(), HeaderRead: 5e9, Idle: 180e9})
	c := newConn(s, &tireless{n: b.N})
	b.ReportAllocs()
	for turns.Get().(*turn).serve(c) == another {
	}
}

// A request costs one allocation: its head.
func TestARequestIsOneAllocation(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates, and empties pools")
	}
	_, addr := listen(t, Options{Handler: reads(), HeaderRead: 5e9, Idle: 180e9})
	c := dial(t, addr)
	question, p := []byte(poll), make([]byte, 4096)
	ask := func() {
		if _, err := c.Write(question); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Read(p); err != nil || !bytes.HasSuffix(p[:n], result) {
			t.Fatalf("got %q, %v", p[:n], err)
		}
	}
	ask()
	if n := testing.AllocsPerRun(1000, ask); n > 1 {
		t.Errorf("got %v allocations", n)
	}
}
