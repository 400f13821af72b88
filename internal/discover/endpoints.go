package discover

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"slices"
	"strconv"
)

// kubeMeta is the metadata of a Kubernetes object, as far as berth reads it.
type kubeMeta struct {
	Name            string `json:"name"`
	ResourceVersion string `json:"resourceVersion"`
	Continue        string `json:"continue"`
}

// endpointSlice is an EndpointSlice (discovery.k8s.io/v1), as far as berth reads it.
type endpointSlice struct {
	Metadata    kubeMeta    `json:"metadata"`
	AddressType string      `json:"addressType"`
	Endpoints   []endpoint  `json:"endpoints"`
	Ports       []slicePort `json:"ports"`
}

type slicePort struct {
	Name     string `json:"name"`
	Port     int    `json:"port"`     // 0: any
	Protocol string `json:"protocol"` // "": TCP
}

// carries reports whether HTTP may be spoken there.
func (p slicePort) carries() bool {
	return p.Port >= 1 && p.Port <= math.MaxUint16 && (p.Protocol == "" || p.Protocol == "TCP")
}

type endpoint struct {
	Addresses  []string `json:"addresses"`
	Conditions struct {
		Ready       *bool `json:"ready"` // nil: unknown, to be taken for true
		Terminating *bool `json:"terminating"`
	} `json:"conditions"`
	TargetRef *struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
	} `json:"targetRef"`
}

// endpoints are the EndpointSlices of a service as last heard of.
type endpoints struct {
	byName  map[string]endpointSlice
	version string // of the resource, from which a watch goes on
}

// found is an endpoint that may be an instance.
type found struct {
	Instance
	terminating bool
	address     netip.Addr
}

// instances are the pods behind the endpoints. A pod is one instance, also where it stands in
// several slices: at its IPv4 address if it has one. Slices without the port are passed over, unless none has it.
func (s *endpoints) instances(port string, template URLTemplate) ([]Instance, error) {
	best := map[string]found{}
	var without error // of a slice without the port
	for _, name := range sortedKeys(s.byName) {
		slice := s.byName[name]
		if slice.AddressType != "IPv4" && slice.AddressType != "IPv6" || len(slice.Endpoints) == 0 {
			continue
		}
		number, err := slice.port(port)
		if errors.Is(err, errNoPort) {
			without = cmp.Or(without, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range slice.Endpoints {
			one, err := e.found(number, template)
			if err != nil {
				return nil, err
			}
			if standing, ok := best[one.Name]; !ok || one.before(standing) {
				best[one.Name] = one
			}
		}
	}
	if len(best) == 0 && without != nil {
		return nil, without
	}
	list := make([]Instance, 0, len(best))
	for _, name := range sortedKeys(best) {
		list = append(list, best[name].Instance)
	}
	return list, nil
}

// errNoPort says that a slice does not have the port that is wanted.
var errNoPort = errors.New("the service has no port")

func (s endpointSlice) port(wanted string) (int, error) {
	var have []string
	last := 0
	for _, p := range s.Ports {
		if !p.carries() {
			continue
		}
		if wanted != "" && (p.Name == wanted || strconv.Itoa(p.Port) == wanted) {
			return p.Port, nil
		}
		have, last = append(have, fmt.Sprintf("%d (%q)", p.Port, p.Name)), p.Port
	}
	switch {
	case wanted != "":
		return 0, fmt.Errorf("%w %q, it has %v", errNoPort, wanted, have)
	case len(have) == 0:
		return 0, errNoPort
	case len(have) > 1:
		return 0, fmt.Errorf("the service has several ports, %v: port must say which one", have)
	}
	return last, nil
}

// found reads an endpoint. One that is not ready, which one that terminates never is, drains.
func (e endpoint) found(port int, template URLTemplate) (found, error) {
	if len(e.Addresses) == 0 {
		return found{}, errors.New("an endpoint has no address")
	}
	address, err := netip.ParseAddr(e.Addresses[0]) // all are of the same pod, and the first is to be used
	if err != nil {
		return found{}, fmt.Errorf("an endpoint has the address %.80q", e.Addresses[0])
	}
	at := net.JoinHostPort(address.String(), strconv.Itoa(port))
	ready, terminating := e.Conditions.Ready, e.Conditions.Terminating
	one := found{Instance: Instance{Name: at, URL: template.At(at)}, address: address, terminating: terminating != nil && *terminating}
	one.Draining = one.terminating || ready != nil && !*ready
	if e.TargetRef != nil && e.TargetRef.Kind == "Pod" {
		one.Name = e.TargetRef.Name
	}
	return one, checkName(one.Name)
}

// before reports which of two endpoints of one name stands for it: that of the pod that stays, the
// one that gets new work, the lesser address.
func (f found) before(other found) bool {
	return cmp.Or(order(f.terminating, other.terminating), order(f.Draining, other.Draining), lesser(f.address, other.address)) < 0
}

// order has false before true.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
