package discover_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/internal/discover"
	"berth/internal/discover/discovertest"
	"berth/internal/realtest"

	"github.com/miekg/dns"
)

const (
	minTTL = 10 * time.Millisecond
	maxTTL = 50 * time.Millisecond
)

func followDNS(t *testing.T, server *discovertest.NameServer, name string) *hearer {
	t.Helper()
	source, err := discover.NewDNS(discover.DNSOptions{Name: name, Resolver: server.Addr, MinTTL: minTTL, MaxTTL: maxTTL, Template: template})
	if err != nil {
		t.Fatal(err)
	}
	return hear(t, source)
}

func TestAddressesAreInstances(t *testing.T) {
	server := discovertest.NewNameServer(t)
	server.Set(t, "mcp.test. 60 A 10.0.0.2", "mcp.test. 60 A 10.0.0.1")
	h := followDNS(t, server, "mcp.test:7101")
	h.await(t, "10.0.0.1:7101, 10.0.0.2:7101")
	server.Set(t, "mcp.test. 60 A 10.0.0.2", "mcp.test. 60 A 10.0.0.3")
	h.await(t, "10.0.0.2:7101, 10.0.0.3:7101")
}

// An instance with an address of either kind is one.
func TestIPv6CountsWhereThereIsNoIPv4(t *testing.T) {
	server := discovertest.NewNameServer(t)
	server.Set(t, "mcp.test. 60 A 10.0.0.1", "mcp.test. 60 AAAA fd00::1")
	h := followDNS(t, server, "mcp.test:7101")
	h.await(t, "10.0.0.1:7101")
	server.Set(t, "mcp.test. 60 AAAA fd00::1")
	h.await(t, "[fd00::1]:7101")
}

func TestServicesNameTheirTargets(t *testing.T) {
	server := discovertest.NewNameServer(t)
	zone := []string{
		"_mcp._tcp.test. 60 SRV 10 5 7101 mcp-0.test.", "_mcp._tcp.test. 60 SRV 10 0 7102 MCP-1.test.", "_mcp._tcp.test. 60 SRV 20 1 7103 spare.test.",
		"_mcp._tcp.test. 60 SRV 10 0 7104 nowhere.test.",
		"mcp-1.test. 60 A 10.0.0.2", "spare.test. 60 A 10.0.0.3",
	}
	server.Set(t, append(zone, "mcp-0.test. 60 A 10.0.0.8", "mcp-0.test. 60 A 10.0.0.7")...)
	for _, name := range []string{"_mcp._tcp.test", "srv+_mcp._tcp.test"} {
		h := followDNS(t, server, name)
		h.await(t, "mcp-0.test:7101@10.0.0.7:7101 weight 5, mcp-1.test:7102@10.0.0.2:7102 weight 1, spare.test:7103@10.0.0.3:7103 backup weight 1")
	}
	h := followDNS(t, server, "_mcp._tcp.test")
	h.await(t, "mcp-0.test:7101@10.0.0.7:7101 weight 5, mcp-1.test:7102@10.0.0.2:7102 weight 1, spare.test:7103@10.0.0.3:7103 backup weight 1")
	server.Set(t, "_heavy._tcp.test. 60 SRV 1 1000 1 mcp-0.test.", "_heavy._tcp.test. 60 SRV 1 2000 2 mcp-0.test.", "_heavy._tcp.test. 60 SRV 1 0 3 mcp-0.test.", "mcp-0.test. 60 A 10.0.0.7")
	followDNS(t, server, "_heavy._tcp.test").await(t, "mcp-0.test:1@10.0.0.7:1 weight 128, mcp-0.test:2@10.0.0.7:2 weight 256, mcp-0.test:3@10.0.0.7:3 weight 1")
	// The name outlives the address, and another address beside it moves nobody.
	server.Set(t, append(zone, "mcp-0.test. 60 A 10.0.0.8")...)
	h.await(t, "mcp-0.test:7101@10.0.0.8:7101 weight 5, mcp-1.test:7102@10.0.0.2:7102 weight 1, spare.test:7103@10.0.0.3:7103 backup weight 1")
	server.Set(t, append(zone, "mcp-0.test. 60 A 10.0.0.8", "mcp-0.test. 60 A 10.0.0.7", "spare2.test. 1 A 10.0.0.9", "_mcp._tcp.test. 60 SRV 10 9 7105 spare2.test.")...)
	h.await(t, "mcp-0.test:7101@10.0.0.8:7101 weight 5, mcp-1.test:7102@10.0.0.2:7102 weight 1, spare.test:7103@10.0.0.3:7103 backup weight 1, spare2.test:7105@10.0.0.9:7105 weight 9")
}

// What does not fit is asked for by TCP: a fleet of which some are missing would lose these.
func TestWhatDoesNotFitComesByTCP(t *testing.T) {
	server := discovertest.NewNameServer(t)
	var lines, want []string
	for i := range 200 {
		lines = append(lines, fmt.Sprintf("mcp.test. 60 A 10.0.1.%d", 50+i))
	}
	for i := range 200 {
		if n := 50 + i; n >= 100 {
			want = append(want, fmt.Sprintf("10.0.1.%d:7101", n))
		}
	}
	for n := 50; n < 100; n++ {
		want = append(want, fmt.Sprintf("10.0.1.%d:7101", n))
	}
	server.Set(t, lines...)
	h := followDNS(t, server, "mcp.test:7101")
	h.await(t, strings.Join(want, ", "))
	if server.Asked("udp", "A", "mcp.test.") == 0 || server.Asked("tcp", "A", "mcp.test.") == 0 {
		t.Error("not asked by UDP first and TCP then")
	}
}

func TestAServerWithoutEDNS0IsAskedAsItCan(t *testing.T) {
	server := discovertest.NewNameServer(t)
	server.Set(t, "mcp.test. 60 A 10.0.0.1")
	server.BeOld()
	followDNS(t, server, "mcp.test:7101").await(t, "10.0.0.1:7101")
}

// A failure is no answer, and a name that is not there is one.
func TestFailuresAreNoAnswers(t *testing.T) {
	server := discovertest.NewNameServer(t)
	server.Set(t, "mcp.test. 60 A 10.0.0.1")
	h := followDNS(t, server, "mcp.test:7101")
	h.await(t, "10.0.0.1:7101")
	for code, words := range map[int]string{dns.RcodeServerFailure: "SERVFAIL", dns.RcodeRefused: "REFUSED"} {
		server.Fail(code)
		h.awaitError(t, words)
	}
	server.Set(t)
	h.await(t, "")
	server.Set(t, "mcp.test. 60 A 10.0.0.1")
	h.await(t, "10.0.0.1:7101")
}

// The TTL says when it is asked again, within bounds.
func TestAnswersAreUsedAsLongAsTheyHold(t *testing.T) {
	for _, tt := range []struct {
		ttl      string
		min, max time.Duration
		again    bool
	}{
		{"0", time.Hour, time.Hour, false}, {"3600", time.Millisecond, time.Hour, false}, {"3600", time.Millisecond, 10 * time.Millisecond, true}, {"0", time.Millisecond, time.Hour, true},
	} {
		server := discovertest.NewNameServer(t)
		server.Set(t, "mcp.test. "+tt.ttl+" A 10.0.0.1")
		source, err := discover.NewDNS(discover.DNSOptions{Name: "mcp.test:1", Resolver: server.Addr, MinTTL: tt.min, MaxTTL: tt.max, Template: template})
		if err != nil {
			t.Fatal(err)
		}
		h := hear(t, source)
		h.await(t, "10.0.0.1:1")
		asked := func() bool { return server.Asked("udp", "A", "mcp.test.") > 5 }
		if again := realtest.Until(map[bool]time.Duration{true: 10 * time.Second, false: 100 * time.Millisecond}[tt.again], asked); again != tt.again {
			t.Errorf("TTL %s between %v and %v: asked again %t, want %t", tt.ttl, tt.min, tt.max, again, tt.again)
		}
	}
}

func TestNamesThatCannotBeAskedFor(t *testing.T) {
	for _, name := range []string{"", "mcp", "mcp:0", "mcp:70000", "mcp:http", ":7101", "srv+", "srv+a:1", "a b:1", "http://mcp:1"} {
		if _, err := discover.NewDNS(discover.DNSOptions{Name: name}); err == nil {
			t.Errorf("%q: got no error", name)
		}
	}
}
