package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"
)

const (
	resolvConf = "/etc/resolv.conf"
	udpSize    = 1232 // what EDNS0 offers: no fragments on the way (DNS Flag Day 2020)
)

// resolver asks name servers, and tells how long their answers hold.
type resolver struct {
	server string // "": those of config
	config string // path of a resolv.conf, read for each question
	port   string // that its servers listen on; "": 53
}

// addresses returns where a host is: its IPv4 addresses or, without any, its IPv6 ones, so that
// an instance with both is one. None is no error.
func (r resolver) addresses(ctx context.Context, host string) (found []netip.Addr, ttl time.Duration, err error) {
	if literal, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{literal}, time.Hour, nil
	}
	records, ttl, err := r.look(ctx, host, dns.TypeA, dns.TypeAAAA)
	if err != nil {
		return nil, 0, err
	}
	seen := map[netip.Addr]bool{}
	for _, record := range records {
		var ip net.IP
		switch record := record.(type) {
		case *dns.A:
			ip = record.A
		case *dns.AAAA:
			ip = record.AAAA
		}
		if address, ok := netip.AddrFromSlice(ip); ok && !seen[address.Unmap()] {
			seen[address.Unmap()] = true
			found = append(found, address.Unmap())
		}
	}
	return found, ttl, nil
}

// services returns the SRV records of a name. None is no error.
func (r resolver) services(ctx context.Context, name string) (found []*dns.SRV, ttl time.Duration, err error) {
	records, ttl, err := r.look(ctx, name, dns.TypeSRV)
	for _, record := range records {
		if srv, ok := record.(*dns.SRV); ok {
			found = append(found, srv)
		}
	}
	return found, ttl, err
}

// look returns the records of the first type that there are any of, by the first name of the
// search list that has them. A name that servers fail at is passed over, as the system's resolver
// does; that there is none is said only if none failed.
func (r resolver) look(ctx context.Context, name string, types ...uint16) (found []dns.RR, ttl time.Duration, err error) {
	config, names, err := r.servers(name)
	if err != nil {
		return nil, 0, err
	}
	ttl = time.Hour
	var failed error
	for _, candidate := range names {
		found, holds, err := lookOne(ctx, config, candidate, types)
		switch {
		case len(found) > 0:
			return found, holds, nil
		case err != nil:
			failed = cmp.Or(failed, err)
		}
		ttl = min(ttl, holds)
	}
	return nil, ttl, failed
}

func lookOne(ctx context.Context, config *dns.ClientConfig, name string, types []uint16) (found []dns.RR, ttl time.Duration, err error) {
	for _, kind := range types {
		answer, err := exchange(ctx, config, name, kind)
		if err != nil {
			return nil, 0, fmt.Errorf("%s of %s: %w", dns.TypeToString[kind], name, err)
		}
		if found, ttl = read(answer, kind); len(found) > 0 || answer.Rcode == dns.RcodeNameError { // which is of any type
			break
		}
	}
	return found, ttl, nil
}

func (r resolver) servers(name string) (*dns.ClientConfig, []string, error) {
	if r.server != "" {
		return &dns.ClientConfig{Servers: []string{r.server}, Timeout: 2, Attempts: 2}, []string{dns.Fqdn(name)}, nil
	}
	config, err := dns.ClientConfigFromFile(r.config)
	if err != nil {
		return nil, nil, err
	}
	for i, server := range config.Servers {
		config.Servers[i] = net.JoinHostPort(server, cmp.Or(r.port, config.Port))
	}
	if len(config.Servers) == 0 {
		return nil, nil, fmt.Errorf("%s names no server", r.config)
	}
	return config, config.NameList(name), nil
}

// read returns the records of a kind in an answer, and how long it holds: the least TTL in it, or
// what the zone says of a denial (RFC 2308, section 5).
func read(answer *dns.Msg, kind uint16) (found []dns.RR, ttl time.Duration) {
	least := uint32(time.Hour / time.Second)
	for _, record := range answer.Answer {
		least = min(least, record.Header().Ttl)
		if record.Header().Rrtype == kind {
			found = append(found, record)
		}
	}
	if len(found) == 0 {
		least = 0
		for _, record := range answer.Ns {
			if soa, ok := record.(*dns.SOA); ok {
				least = min(soa.Minttl, soa.Hdr.Ttl)
			}
		}
	}
	return found, time.Duration(least) * time.Second
}

// exchange puts a question to one server after another, until one says whether there is such a name.
func exchange(ctx context.Context, config *dns.ClientConfig, name string, kind uint16) (*dns.Msg, error) {
	var failed error
	for range max(config.Attempts, 1) {
		for _, server := range config.Servers {
			answer, err := ask(ctx, server, name, kind, time.Duration(config.Timeout)*time.Second)
			if err == nil {
				return answer, nil
			}
			failed = fmt.Errorf("%s: %w", server, err)
			if ctx.Err() != nil {
				return nil, failed
			}
		}
	}
	return nil, failed
}

// ask puts a question to one server: by UDP, without EDNS0 if the server does not know it (RFC
// 6891, section 7), and by TCP if the answer does not fit.
func ask(ctx context.Context, server, name string, kind uint16, timeout time.Duration) (*dns.Msg, error) {
	question := new(dns.Msg).SetQuestion(name, kind)
	question.SetEdns0(udpSize, false)
	answer, err := once(ctx, "udp", server, question, timeout)
	if err == nil && (answer.Rcode == dns.RcodeFormatError || answer.Rcode == dns.RcodeNotImplemented) {
		question.Extra = nil
		answer, err = once(ctx, "udp", server, question, timeout)
	}
	if err == nil && answer.Truncated {
		answer, err = once(ctx, "tcp", server, question, timeout)
	}
	switch {
	case err != nil:
		return nil, err
	case answer.Truncated:
		return nil, errors.New("the answer is truncated")
	case answer.Rcode != dns.RcodeSuccess && answer.Rcode != dns.RcodeNameError:
		return nil, errors.New(dns.RcodeToString[answer.Rcode])
	}
	return answer, nil
}

func once(ctx context.Context, network, server string, question *dns.Msg, timeout time.Duration) (*dns.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	client := &dns.Client{Net: network, UDPSize: udpSize}
	conn, err := client.DialContext(ctx, server)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	answer, _, err := client.ExchangeWithConnContext(ctx, question, conn)
	switch {
	case err != nil && (answer == nil || answer.Id != question.Id || !answer.Truncated): // a server may cut anywhere
		return nil, err
	case !answer.Response || !answers(answer, question):
		return nil, errors.New("the answer is to another question")
	}
	return answer, nil
}

// answers reports whether an answer is to this question. A server that could not read it need not
// repeat it.
func answers(answer, question *dns.Msg) bool {
	if len(answer.Question) == 0 {
		return answer.Rcode == dns.RcodeFormatError || answer.Rcode == dns.RcodeNotImplemented
	}
	asked, put := answer.Question[0], question.Question[0]
	return strings.EqualFold(asked.Name, put.Name) && asked.Qtype == put.Qtype && asked.Qclass == put.Qclass
}
