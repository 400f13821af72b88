package admin

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener whose connections stay in memory, so that synctest's clock
// governs their time-outs.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	return client
}

func TestASlowClientIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		serve(t, newServer(Options{Log: slog.New(slog.DiscardHandler)}, p, false))
		for head, limit := range map[string]time.Duration{
			"GET /livez HTTP/1.1\r\nHost: x\r\n":                        headerTimeout,
			"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: x\r\n\r\n\r": idleTimeout,
		} {
			conn, begin := p.dial(), time.Now()
			go io.WriteString(conn, head)
			io.Copy(io.Discard, conn)
			if got := time.Since(begin); got != limit {
				t.Errorf("%q: cut off after %v, want %v", head, got, limit)
			}
			conn.Close()
		}
	})
}

func TestRunEndsThoughAScrapeHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		hang := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		s := newServer(Options{Metrics: hang, Log: slog.New(slog.DiscardHandler)}, p, false)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Run(ctx) }()
		conn := p.dial()
		defer conn.Close()
		go io.WriteString(conn, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
		synctest.Wait()
		begin := time.Now()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if got := time.Since(begin); got != lastWords {
			t.Errorf("ended after %v, want %v", got, lastWords)
		}
		if _, err := bufio.NewReader(conn).ReadByte(); err == nil {
			t.Error("the connection outlived Run")
		}
	})
}
