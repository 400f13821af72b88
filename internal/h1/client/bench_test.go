package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/url"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/wire"
)

const answered = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: Mon, 23 Nov 2026 18:45:11 GMT\r\nMcp-Session-Id: 0123456789abcdef\r\nContent-Length: 2\r\n\r\n{}"

// trivial is an upstream that answers each request, which has to come in one piece, in one.
func trivial(tb testing.TB, config *tls.Config) string {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatalf("Listen: %v", err)
	}
	tb.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if config != nil {
				conn = tls.Server(conn, config)
			}
			go func() {
				defer conn.Close()
				buffer, answer := make([]byte, 8<<10), []byte(answered)
				for {
					if n, err := conn.Read(buffer); err != nil || !bytes.HasSuffix(buffer[:n], []byte("}}")) {
						return
					}
					if _, err := conn.Write(answer); err != nil {
						return
					}
				}
			}()
		}
	}()
	return listener.Addr().String()
}

// poll is a request as berth sends many.
func poll(address string) *exchange.Request {
	return &exchange.Request{
		Method: wire.MethodPost, URL: &url.URL{Scheme: "http", Host: address, Path: "/mcp"}, Host: "front.example",
		Header: wire.NewHeader(
			"Accept", "application/json, text/event-stream", "Content-Type", "application/json", "Accept-Encoding", "identity",
			"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tasks/get", "Mcp-Name", "0123456789abcdef", "User-Agent", "",
			"X-Forwarded-For", "127.0.0.1", "X-Forwarded-Host", "front.example", "X-Forwarded-Proto", "http", "Via", "1.1 berth",
		),
		Body: []byte(`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"0123456789abcdef"}}`),
	}
}

// once makes an exchange, and reads its answer into p.
func once(tb testing.TB, c exchange.Sender, r *exchange.Request, p []byte) {
	response, err := c.Send(context.Background(), r, 10*time.Second)
	if err != nil {
		tb.Fatalf("Send: %v", err)
	}
	for err == nil {
		_, err = response.Body.Read(p)
	}
	if err != io.EOF {
		tb.Fatalf("body: %v", err)
	}
	_ = response.Body.Close()
}

// BenchmarkHead writes a head whose fields were judged, as most are.
func BenchmarkHead(b *testing.B) {
	r, room := poll("a.example"), make([]byte, 0, 4<<10)
	judged := new(wire.Header)
	for _, f := range r.Header.Fields() {
		judged.Append(wire.Own(f.Name, f.Value))
	}
	r.Header = judged
	var o opening
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := appendHead(room, r, &o); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkExchange(b *testing.B) {
	for name, c := range map[string]exchange.Sender{"h1": New(Options{}), "net-http": exchange.NewClient(0)} {
		b.Run(name, func(b *testing.B) {
			r, p := poll(trivial(b, nil)), make([]byte, 512)
			b.ReportAllocs()
			for b.Loop() {
				once(b, c, r, p)
			}
			c.Close()
		})
	}
}
