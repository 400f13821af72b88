// Package discovertest holds what tests discover by: a name server, and an API server that speaks
// the wire of Kubernetes' EndpointSlices. Both are real servers on loopback.
package discovertest

import (
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"
)

// NameServer answers by UDP and TCP on one port of loopback.
type NameServer struct {
	Addr string // host:port

	mu      sync.Mutex // guards the fields below
	records map[string][]dns.RR
	rcode   int
	old     bool
	asked   map[string]int
	broken  string // names below it fail; "": none
}

// NewNameServer serves until the test ends.
func NewNameServer(t testing.TB) *NameServer {
	t.Helper()
	s := &NameServer{records: map[string][]dns.RR{}, asked: map[string]int{}}
	listener, packets := listenBoth(t)
	s.Addr = listener.Addr().String()
	for _, server := range []*dns.Server{{Listener: listener, Handler: s}, {PacketConn: packets, Handler: s}} {
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		go func() { _ = server.ActivateAndServe() }()
		<-started
		t.Cleanup(func() { _ = server.Shutdown() })
	}
	return s
}

// listenBoth finds a port that is free for both.
func listenBoth(t testing.TB) (net.Listener, net.PacketConn) {
	t.Helper()
	var last error
	for range 20 {
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		packets, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", listener.Addr().String())
		if err == nil {
			return listener, packets
		}
		last = err
		listener.Close()
	}
	t.Fatal(last)
	return nil, nil
}

// Set makes these the records, as a zone's lines have them.
func (s *NameServer) Set(t testing.TB, lines ...string) {
	t.Helper()
	records := map[string][]dns.RR{}
	for _, line := range lines {
		record, err := dns.NewRR(line)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.ToLower(record.Header().Name)
		records[name] = append(records[name], record)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records, s.rcode = records, dns.RcodeSuccess
}

// Fail has each question answered by this code, until Set.
func (s *NameServer) Fail(rcode int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rcode = rcode
}

// Break has each question for a name below this one fail.
func (s *NameServer) Break(zone string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = zone
}

// BeOld has the server refuse EDNS0, as one from before it does.
func (s *NameServer) BeOld() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.old = true
}

// Asked tells how often a question was asked, by "udp" or "tcp", type and name.
func (s *NameServer) Asked(network, kind, name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[network+" "+kind+" "+name]
}

// ServeDNS implements [dns.Handler].
func (s *NameServer) ServeDNS(w dns.ResponseWriter, question *dns.Msg) {
	network := w.LocalAddr().Network()
	answer := s.answer(network, question)
	if network == "udp" {
		size := dns.MinMsgSize
		if edns := question.IsEdns0(); edns != nil {
			size = int(edns.UDPSize())
		}
		answer.Truncate(size)
	}
	_ = w.WriteMsg(answer)
}

func (s *NameServer) answer(network string, question *dns.Msg) *dns.Msg {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := question.Question[0]
	name := strings.ToLower(asked.Name)
	s.asked[network+" "+dns.TypeToString[asked.Qtype]+" "+name]++
	answer := new(dns.Msg).SetReply(question)
	if s.old && question.IsEdns0() != nil {
		answer.Rcode = dns.RcodeFormatError
		answer.Question = nil
		return answer
	}
	records, known := s.records[name]
	switch {
	case s.broken != "" && dns.IsSubDomain(s.broken, name):
		answer.Rcode = dns.RcodeServerFailure
		return answer
	case s.rcode != dns.RcodeSuccess:
		answer.Rcode = s.rcode
	case !known:
		answer.Rcode = dns.RcodeNameError
	}
	for _, record := range records {
		if record.Header().Rrtype == asked.Qtype && s.rcode == dns.RcodeSuccess {
			answer.Answer = append(answer.Answer, record)
		}
	}
	return answer
}
