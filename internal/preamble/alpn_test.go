package preamble_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/certs/certstest"
	"berth/internal/memnet"
	"berth/internal/preamble"
)

// site parts what it accepts in memory.
func site(t *testing.T) (listener *memnet.Listener, second, others net.Listener, handshakes *atomic.Int64, client *tls.Config) {
	root := certstest.New(t)
	listener, handshakes = memnet.Listen("localhost"), new(atomic.Int64)
	secure := tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{root.Server("localhost").TLS(t)}, NextProtos: []string{"h2", "http/1.1"}})
	second, others = preamble.SplitHTTP2(secure, func(_ net.Addr, err error) {
		if err == nil {
			handshakes.Add(1)
		}
	})
	return listener, second, others, handshakes, &tls.Config{RootCAs: root.Pool(), ServerName: "localhost"}
}

func TestConnectionsArePartedByWhatWasAgreed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener, second, others, handshakes, client := site(t)
		defer second.Close()
		mute, err := listener.Dial(t.Context()) // never shakes hands, and holds up nobody
		if err != nil {
			t.Fatal(err)
		}
		defer mute.Close()
		for _, c := range []struct {
			offers []string
			to     net.Listener
		}{{[]string{"h2"}, second}, {[]string{"h2", "http/1.1"}, second}, {[]string{"http/1.1"}, others}, {nil, others}} {
			raw, err := listener.Dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			config := client.Clone()
			config.NextProtos = c.offers
			conn := tls.Client(raw, config)
			began := time.Now()
			if err := conn.HandshakeContext(context.Background()); err != nil {
				t.Fatal(err)
			}
			got, err := c.to.Accept()
			if err != nil || time.Since(began) > time.Second {
				t.Errorf("%v: got %v after %v", c.offers, err, time.Since(began))
				continue
			}
			_ = raw.Close()
			_ = got.Close()
		}
		time.Sleep(time.Minute)
		if got := handshakes.Load(); got != 4 {
			t.Errorf("heard of %d handshakes, want 4", got)
		}
		if _, err := mute.Read(make([]byte, 1)); err == nil {
			t.Error("who never shakes hands keeps its connection")
		}
	})
}

// Who speaks HTTP where TLS is spoken is told so; who speaks neither is told nothing.
func TestPlainHTTPIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener, second, _, handshakes, _ := site(t)
		defer second.Close()
		const told = "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
		for said, want := range map[string]string{"POST ": told, "GET /": told, "SSH-2": ""} {
			conn, err := listener.Dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = io.WriteString(conn, said) }()
			if got, _ := io.ReadAll(conn); string(got) != want && !(want == "" && !strings.HasPrefix(string(got), "HTTP")) {
				t.Errorf("%q: got %q, want %q", said, got, want)
			}
			_ = conn.Close()
		}
		if handshakes.Load() != 0 {
			t.Error("a handshake is told to have ended well")
		}
	})
}

func TestClosingOneEndsBoth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, second, others, _, _ := site(t)
		_ = others.Close()
		if _, err := second.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v, want that it is closed", err)
		}
		synctest.Wait()
	})
}
