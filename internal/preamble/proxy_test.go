package preamble_test

import (
	"bytes"
	"io"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"berth/internal/preamble"
	"berth/internal/realtest"

	"github.com/pires/go-proxyproto"
)

// gate passes connections of loopback on, if trusted says so.
func gate(t *testing.T, trusted bool) (listener net.Listener, dial func(begins ...[]byte) net.Conn) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := preamble.ProxyOptions{Ended: func(net.Addr, error) {}, Trusted: func() []netip.Prefix {
		if !trusted {
			return nil
		}
		return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	}}
	listener = preamble.ReadProxy(inner, o)
	t.Cleanup(func() { listener.Close() })
	return listener, func(begins ...[]byte) net.Conn {
		t.Helper()
		conn, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		for _, part := range begins {
			if _, err := conn.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		return conn
	}
}

func headerOf(t *testing.T, version byte, command proxyproto.ProtocolVersionAndCommand, client string) []byte {
	t.Helper()
	h := proxyproto.HeaderProxyFromAddrs(version, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(client)), net.TCPAddrFromAddrPort(netip.MustParseAddrPort("192.0.2.1:443")))
	h.Command = command
	var b bytes.Buffer
	if _, err := h.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAddressIsTheOneInTheHeader(t *testing.T) {
	for what, c := range map[string]struct {
		header []byte
		want   string // "": the peer's
	}{
		"version 1":    {[]byte("PROXY TCP4 198.51.100.7 192.0.2.1 4711 443\r\n"), "198.51.100.7:4711"},
		"version 1, 6": {[]byte("PROXY TCP6 2001:db8::7 2001:db8::1 4711 443\r\n"), "[2001:db8::7]:4711"},
		"unknown":      {[]byte("PROXY UNKNOWN\r\n"), ""},
		"version 2":    {headerOf(t, 2, proxyproto.PROXY, "198.51.100.7:4711"), "198.51.100.7:4711"},
		"local":        {headerOf(t, 2, proxyproto.LOCAL, "198.51.100.7:4711"), ""},
	} {
		listener, dial := gate(t, true)
		peer := dial(c.header, []byte("hello"))
		conn, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		want := c.want
		if want == "" {
			want = peer.LocalAddr().String()
		}
		if got := conn.RemoteAddr().String(); got != want {
			t.Errorf("%s: got %s, want %s", what, got, want)
		}
		if _, err := peer.Write([]byte(" world")); err != nil {
			t.Fatal(err)
		}
		peer.(*net.TCPConn).CloseWrite()
		if rest, err := io.ReadAll(conn); string(rest) != "hello world" || err != nil {
			t.Errorf("%s: got %q, %v after it", what, rest, err)
		}
		conn.Close()
	}
}

// One that says nothing holds up nobody, and what begins with no header goes nowhere.
func TestTrustedPeersMustSendAHeader(t *testing.T) {
	listener, dial := gate(t, true)
	dial() // silent
	for _, begins := range []string{"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "PROXY TCP4 nonsense\r\n", "PROXY TCP4 198.51.100.7 192.0.2.1 4711 443" + strings.Repeat(" ", 200)} {
		refused := dial([]byte(begins))
		_ = refused.SetReadDeadline(time.Now().Add(realtest.Within))
		if n, err := refused.Read(make([]byte, 1)); n > 0 || err == nil {
			t.Errorf("%q: the connection stands", begins)
		} else if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
			t.Errorf("%q: the connection is not closed", begins)
		}
	}
	dial([]byte("PROXY TCP4 198.51.100.7 192.0.2.1 4711 443\r\n"))
	conn, err := listener.Accept()
	if err != nil || conn.RemoteAddr().String() != "198.51.100.7:4711" {
		t.Errorf("got %v, %v, want the one that begins with a header", conn, err)
	}
}

func TestOthersHeadersAreNotRead(t *testing.T) {
	listener, dial := gate(t, false)
	const header = "PROXY TCP4 198.51.100.7 192.0.2.1 4711 443\r\n"
	peer := dial([]byte(header))
	peer.(*net.TCPConn).CloseWrite()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got, _ := io.ReadAll(conn); string(got) != header || conn.RemoteAddr().String() != peer.LocalAddr().String() {
		t.Errorf("got %q of %v, want all of it, of the peer", got, conn.RemoteAddr())
	}
}

// Who writes asks for the plain connection while another reads what came with the header.
func TestThePlainConnectionIsAskedForWhileAnotherReads(t *testing.T) {
	listener, dial := gate(t, true)
	peer := dial([]byte("PROXY TCP4 198.51.100.7 192.0.2.1 4711 443\r\n" + strings.Repeat("x", 512)))
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	peer.(*net.TCPConn).CloseWrite()
	plain := conn.(interface{ PlainConn() net.Conn })
	if plain.PlainConn() != nil {
		t.Error("it is plain while bytes are left that came with the header")
	}
	read := make(chan int)
	go func() {
		all, _ := io.ReadAll(conn)
		read <- len(all)
	}()
	for plain.PlainConn() == nil {
		runtime.Gosched()
	}
	if n := <-read; n != 512 {
		t.Errorf("read %d bytes", n)
	}
}
