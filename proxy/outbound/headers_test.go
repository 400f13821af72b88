package outbound

import (
	"crypto/tls"
	"net/netip"
	"slices"
	"testing"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
)

// namedBy is an identifier that a trusted peer tells who calls by a header.
type namedBy string

func (namedBy) Identify(*wire.Request, bool) (string, error) { return "", nil }
func (n namedBy) Header() string                             { return string(n) }

// unusual are names that are treated apart, and one that is not.
var unusual = []string{"Te", "Upgrade", "Expect", "Http2-Settings", "Proxy-Authorization", "X-Real-Ip", "X-Forwarded-User", "Mcp_Name", "X_user", "X-User", "X-Other"}

// said is a header of all names, with their numbers or without, and with what Connection lists.
func said(numbered bool, listed string) *wire.Header {
	h := new(wire.Header)
	for number, name := range wire.UsualNames() {
		f := wire.Field{Name: name, Value: "x"}
		if numbered {
			f.Usual = number
		}
		if name == "Connection" {
			f.Value = listed
		}
		h.Append(f)
	}
	for _, name := range unusual {
		h.Add(name, "x")
	}
	return h
}

// ways are the ways that differ in what of a client's headers goes upstream.
func ways(then func(w *Way)) {
	for _, identifier := range []inbound.Identifier{nil, namedBy(""), namedBy("X-User"), namedBy("Authorization"), namedBy("x-forwarded-user")} {
		for _, version := range []string{"2025-11-25", "2026-07-28"} {
			for i := range 4 {
				then(&Way{InSession: i&2 > 0, Call: &inbound.Call{
					HTTP:     &wire.Request{Header: wire.NewHeader(mcp.HeaderVersion, version)},
					Endpoint: &inbound.Endpoint{Identifier: identifier}, Trusted: i&1 > 0,
				}})
			}
		}
	}
}

func passedNames(w *Way, client *wire.Header) (names []string) {
	h := new(wire.Header)
	w.pass(h, client)
	for _, f := range h.Fields() {
		names = append(names, f.Name)
	}
	return names
}

// What goes upstream does not depend on whether who has read a head has told the numbers of its names.
func TestANamesNumberChangesNothingOfWhatGoesUpstream(t *testing.T) {
	ways(func(w *Way) {
		for _, listed := range []string{"", "close", "accept, X-Other", "Mcp-Name"} {
			got, want := passedNames(w, said(true, listed)), passedNames(w, said(false, listed))
			if !slices.Equal(got, want) || slices.Contains(got, "Connection") || slices.Contains(got, "Mcp_Name") {
				t.Errorf("trusted %t, by %v, listed %q:\n got %q\nwant %q", w.Trusted, w.Endpoint.Identifier, listed, got, want)
			}
			if slices.Contains(got, "Content-Length") || !w.Trusted && slices.Contains(got, "X-Forwarded-For") {
				t.Errorf("trusted %t: %q goes upstream", w.Trusted, got)
			}
		}
	})
}

// What is told of a client who came through no other proxy is what would be told beside the words of one.
func TestTheFirstHopIsToldAsOthersAre(t *testing.T) {
	for _, remote := range []string{"192.0.2.1:4711", "[2001:db8::1]:4711", "[fe80::1%eth0]:1", "@"} {
		for _, secure := range []*tls.ConnectionState{nil, {}} {
			peer, _ := netip.ParseAddrPort(remote)
			w := &Way{Call: &inbound.Call{HTTP: &wire.Request{
				Host: "front.example", ProtoMajor: 1, ProtoMinor: 1, RemoteAddr: remote, Peer: peer.Addr(), TLS: secure,
			}}}
			got, want := wire.NewHeader("User-Agent", "test"), wire.NewHeader("User-Agent", "test")
			w.addForwarded(got)
			w.joinForwarded(want)
			if !slices.Equal(got.Fields(), want.Fields()) || !got.Has("Via") || got.Get("X-Forwarded-Host") != "front.example" {
				t.Errorf("%s: got %+v, want %+v", remote, got, want)
			}
		}
	}
}

// What is told of one client is nobody else's.
func TestWhatIsToldOfAClientIsKeptByNobody(t *testing.T) {
	w := &Way{Call: &inbound.Call{HTTP: &wire.Request{
		Host: "front.example", ProtoMajor: 1, ProtoMinor: 1, RemoteAddr: "192.0.2.1:4711", Peer: netip.MustParseAddr("192.0.2.1"),
	}}}
	w.addForwarded(new(wire.Header))
	for _, f := range firstHop.Fields() {
		if f.Value != "" && f.Name != "Via" {
			t.Errorf("%+v is kept", f)
		}
	}
}
