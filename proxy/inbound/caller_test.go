package inbound

import (
	"net/netip"
	"net/url"
	"testing"

	"berth/internal/connlimit"
	"berth/internal/wire"
)

// guarded is a call from remote, to an endpoint whose trusted proxies are 10.0.0.0/8.
func guarded(remote string, forwarded ...string) *Call {
	r := &wire.Request{Method: wire.MethodPost, URL: &url.URL{Path: "/mcp"}, Host: "h", Header: new(wire.Header), RemoteAddr: remote}
	for _, line := range forwarded {
		r.Header.Add("X-Forwarded-For", line)
	}
	call := &Call{HTTP: r, Settings: &Settings{
		Endpoints: []*Endpoint{{Path: "/mcp"}}, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Limits: Limits{}.WithDefaults(),
	}}
	_ = Arrival{call}.Guard() // what it refuses has come from somewhere, too
	return call
}

// Entries are believed from the last on backwards, over all lines, as long as they name trusted proxies.
func TestWhereARequestComesFrom(t *testing.T) {
	for _, c := range []struct {
		remote    string
		forwarded []string
		want      string
	}{
		{"192.0.2.7:1", nil, "192.0.2.7"},
		{"192.0.2.7:1", []string{"192.0.2.8"}, "192.0.2.7"},
		{"10.0.0.1:1", nil, "10.0.0.1"},
		{"10.0.0.1:1", []string{""}, "10.0.0.1"},
		{"10.0.0.1:1", []string{"192.0.2.8"}, "192.0.2.8"},
		{"10.0.0.1:1", []string{"192.0.2.9, 192.0.2.8 ,10.0.0.2"}, "192.0.2.8"},
		{"10.0.0.1:1", []string{"192.0.2.9,192.0.2.8", "10.0.0.2"}, "192.0.2.8"},
		{"10.0.0.1:1", []string{"192.0.2.8", "unknown, 10.0.0.2"}, "10.0.0.2"},
		{"10.0.0.1:1", []string{"192.0.2.8,"}, "10.0.0.1"},
		{"10.0.0.1:1", []string{"10.0.0.3,10.0.0.2"}, "10.0.0.3"},
		{"10.0.0.1:1", []string{"192.0.2.8:443"}, "192.0.2.8"},
		{"10.0.0.1:1", []string{"[2001:db8::1]"}, "2001:db8::1"},
		{"10.0.0.1:1", []string{"[2001:db8::1]:443"}, "2001:db8::1"},
		{"@", []string{"192.0.2.8"}, ""},
	} {
		call := guarded(c.remote, c.forwarded...)
		if got := call.Address(); got != c.want {
			t.Errorf("%s, %q: got %q, want %q", c.remote, c.forwarded, got, c.want)
		}
		call.HTTP.Peer = peerOf(call.HTTP) // as servers of berth's own read it out
		if got := call.Address(); got != c.want {
			t.Errorf("%s, %q, read out: got %q, want %q", c.remote, c.forwarded, got, c.want)
		}
	}
}

func TestWhoConnectedAsText(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.7:1": "192.0.2.7", "[2001:db8::1]:1": "2001:db8::1", "[fe80::1%eth0]:1": "fe80::1%eth0", "[::ffff:192.0.2.7]:1": "::ffff:192.0.2.7",
		"@": "@", "": "", "pipe": "pipe", "a:b:c": "a:b:c",
	} {
		r := &wire.Request{RemoteAddr: remote}
		if got := PeerHost(r); got != want {
			t.Errorf("%s: got %q, want %q", remote, got, want)
		}
		if r.Peer = peerOf(r); PeerHost(r) != want {
			t.Errorf("%s, read out: got %q, want %q", remote, PeerHost(r), want)
		}
	}
}

// A caller's name is its address's, whoever's place it takes in the memory of names.
func TestCallersAreNamedByTheirAddresses(t *testing.T) {
	var table Settings
	for range 2 {
		for i := range 3000 {
			v4 := netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})
			v6 := netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, byte(i >> 8), byte(i), 15: byte(i)})
			for _, from := range []netip.Addr{v4, v6, v6.WithZone("a")} {
				if got, want := table.callerOf(from, ""), "address "+connlimit.Address(from); got != want {
					t.Fatalf("%s: got %q, want %q", from, got, want)
				}
			}
		}
	}
}

// Who comes straight from a trusted proxy's address, as all do that share berth's machine, costs no memory.
func TestAnAddressCostsNoAllocation(t *testing.T) {
	for _, forwarded := range [][]string{nil, {"192.0.2.9, 192.0.2.8, 10.0.0.2"}} {
		call := guarded("10.0.0.1:1", forwarded...)
		if n := testing.AllocsPerRun(100, func() {
			if err := (Arrival{call}).Guard(); err != nil {
				t.Error(err)
			}
		}); n != 0 {
			t.Errorf("%q: %v allocations", forwarded, n)
		}
	}
}
