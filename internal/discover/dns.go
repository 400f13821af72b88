package discover

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// DNSOptions say what [NewDNS] asks for.
type DNSOptions struct {
	// Name is host:port, whose addresses are the instances; or "srv+" and a name, or a name that
	// begins with "_", whose SRV records name them with their ports.
	Name     string
	Resolver string        // the host:port of a name server, which is asked for Name as it stands; "": resolv.conf's, with its search list
	MinTTL   time.Duration // how long an answer holds at least, and the shortest wait after a failure
	MaxTTL   time.Duration // how long it holds at most, and the longest wait
	Template URLTemplate
}

// DNS tells the addresses of a name, and asks again when their TTL is over.
type DNS struct {
	host     string
	port     string // "": SRV records tell it
	resolver resolver
	o        DNSOptions
}

// NewDNS returns a source that has asked nothing yet.
func NewDNS(o DNSOptions) (*DNS, error) {
	d := &DNS{o: o, resolver: resolver{server: o.Resolver, config: resolvConf}}
	host, marked := strings.CutPrefix(o.Name, "srv+")
	if marked || strings.HasPrefix(o.Name, "_") {
		d.host = host
	} else {
		var err error
		if d.host, d.port, err = net.SplitHostPort(o.Name); err != nil {
			return nil, fmt.Errorf("must be host:port, srv+NAME or _SERVICE._PROTO.NAME, got %.80q", o.Name)
		}
		if n, err := strconv.ParseUint(d.port, 10, 16); err != nil || n == 0 {
			return nil, fmt.Errorf("must have a port from 1 to 65535, got %.20q", d.port)
		}
	}
	if _, ok := dns.IsDomainName(d.host); !ok || d.host == "" || strings.ContainsAny(d.host, ": /") {
		return nil, fmt.Errorf("must have a name that DNS knows, got %.80q", d.host)
	}
	return d, nil
}

// String names what is asked for.
func (d *DNS) String() string { return "dns " + d.o.Name }

// Watch implements [Source].
func (d *DNS) Watch(ctx context.Context, tell func([]Instance, error)) {
	var failing pause
	had := map[string]netip.Addr{} // by target, where it was
	poll(ctx, func(ctx context.Context) ([]Instance, time.Duration, error) {
		list, ttl, err := d.ask(ctx, had)
		if err != nil {
			return nil, failing.next(d.o.MinTTL, d.o.MaxTTL), fmt.Errorf("asking DNS for %s: %w", d.o.Name, err)
		}
		if len(list) == 0 { // which does not count unless it is repeated
			return nil, failing.next(d.o.MinTTL, d.o.MaxTTL), nil
		}
		failing.over()
		return list, min(max(ttl, d.o.MinTTL), d.o.MaxTTL), nil
	}, tell)
}

func (d *DNS) ask(ctx context.Context, had map[string]netip.Addr) ([]Instance, time.Duration, error) {
	if d.port == "" {
		return d.bySRV(ctx, had)
	}
	found, ttl, err := d.resolver.addresses(ctx, d.host)
	if err != nil {
		return nil, 0, err
	}
	list := make([]Instance, 0, len(found))
	for _, address := range found {
		at := net.JoinHostPort(address.String(), d.port)
		list = append(list, Instance{Name: at, URL: d.o.Template.At(at)})
	}
	slices.SortFunc(list, byName)
	return list, ttl, nil
}

// bySRV has a target as an instance at one address: of several the one that it was at last, or
// else the least.
func (d *DNS) bySRV(ctx context.Context, had map[string]netip.Addr) ([]Instance, time.Duration, error) {
	records, ttl, err := d.resolver.services(ctx, d.host)
	if err != nil {
		return nil, 0, err
	}
	first, heaviest := uint16(1<<16-1), 1
	for _, record := range records {
		first, heaviest = min(first, record.Priority), max(heaviest, int(record.Weight))
	}
	var list []Instance
	named := map[string]bool{}
	for _, record := range records {
		target := strings.ToLower(strings.TrimSuffix(record.Target, "."))
		name := net.JoinHostPort(target, strconv.Itoa(int(record.Port)))
		if target == "" || record.Port == 0 || named[name] { // RFC 2782: the target "." says that there is no service
			continue
		}
		named[name] = true
		found, holds, err := d.resolver.addresses(ctx, record.Target)
		if err != nil {
			return nil, 0, err
		}
		ttl = min(ttl, holds)
		if len(found) == 0 {
			continue
		}
		if !slices.Contains(found, had[name]) {
			had[name] = slices.MinFunc(found, lesser)
		}
		if err := checkName(name); err != nil {
			return nil, 0, err
		}
		at := net.JoinHostPort(had[name].String(), strconv.Itoa(int(record.Port)))
		list = append(list, Instance{Name: name, URL: d.o.Template.At(at), Weight: weight(record.Weight, heaviest), Backup: record.Priority > first})
	}
	slices.SortFunc(list, byName)
	return list, ttl, nil
}

// weight is an SRV record's, within what berth takes. 0 stands for a very small share there.
func weight(srv uint16, heaviest int) int {
	if heaviest <= maxWeight {
		return max(int(srv), 1)
	}
	return max(int(srv)*maxWeight/heaviest, 1)
}
