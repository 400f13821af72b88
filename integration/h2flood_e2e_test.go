//go:build e2e

package integration

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"berth/internal/realtest"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// nuisance is a client of HTTP/2 that only makes work: what it does for ever, but for rounds of it.
type nuisance func(framer *http2.Framer, head []byte, stream uint32) error

// nuisances are those that have brought servers down (CVE-2019-9512 and 9515, CVE-2023-44487, CVE-2024-27316).
var nuisances = map[string]nuisance{
	"streams that are reset at once": func(f *http2.Framer, head []byte, stream uint32) error {
		err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: head, EndHeaders: true, EndStream: true})
		if err == nil {
			err = f.WriteRSTStream(stream, http2.ErrCodeCancel)
		}
		return err
	},
	"pings": func(f *http2.Framer, _ []byte, stream uint32) error {
		return f.WritePing(false, [8]byte{byte(stream), byte(stream >> 8)})
	},
	"settings": func(f *http2.Framer, _ []byte, _ uint32) error {
		return f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 16})
	},
	"a head without an end": func(f *http2.Framer, head []byte, stream uint32) error {
		if stream == 1 {
			return f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: head})
		}
		return f.WriteContinuation(1, false, head[:1])
	},
}

// Clients of HTTP/2 that only make work cost those nothing that have some, and leave nothing behind.
func TestFloodsOfHTTP2AreSurvived(t *testing.T) {
	s := newSite(t)
	config := s.path("berth.toml")
	text := fmt.Sprintf("[tls]\ncert = %q\nkey = %q\nhttp2 = true\n", s.path("cert.pem"), s.path("key.pem"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b := startWatched(t, goFleet(t, 1, false), "--config", config)
	client := s.client(t)
	url := "https" + b.url()[len("http"):]
	asked := func() error {
		got, err := client.send(t, url, "tools/list", "", map[string]any{})
		if err == nil && got.status != http.StatusOK {
			err = fmt.Errorf("got status %d: %s", got.status, got.body)
		}
		return err
	}
	if err := asked(); err != nil {
		t.Fatal(err)
	}
	before := b.metric(t, "go_goroutines")
	for name, once := range nuisances {
		t.Run(name, func(t *testing.T) {
			var flooding sync.WaitGroup
			for range 2 {
				flooding.Go(func() { s.flood(t, b.base[len("http://"):], once) })
			}
			for range 20 {
				if err := asked(); err != nil {
					t.Errorf("beside the flood: %v", err)
				}
			}
			flooding.Wait()
			realtest.Eventually(t, "what the flood has left to end", func() bool { return b.metric(t, "go_goroutines") <= before+10 })
		})
	}
}

// flood does once, 10,000 times, on one connection, or until that is closed.
func (s *site) flood(t testing.TB, address string, once nuisance) {
	conn, err := tls.Dial("tcp", address, &tls.Config{RootCAs: s.root.Pool(), ServerName: "127.0.0.1", NextProtos: []string{"h2"}})
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	go func() { _, _ = io.Copy(io.Discard, conn) }()
	var head bytes.Buffer
	encoder := hpack.NewEncoder(&head)
	for _, f := range [][2]string{{":method", http.MethodGet}, {":scheme", "https"}, {":path", "/mcp"}, {":authority", address}} {
		if err := encoder.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}); err != nil {
			t.Error(err)
			return
		}
	}
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		return
	}
	framer := http2.NewFramer(conn, nil)
	err = framer.WriteSettings()
	for n := uint32(0); n < 10_000 && err == nil; n++ {
		err = once(framer, head.Bytes(), 2*n+1)
	}
}
