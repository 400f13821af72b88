package demo

import (
	"net/url"
	"time"

	"berth/internal/mcptest"
)

// upstreamNames name the instances of a fleet.
var upstreamNames = []string{"a", "b", "c"}

// taskTTL is how long the demonstration's tasks are kept, for those who try it
// by hand.
const taskTTL = 10 * time.Minute

// upstreams are a running fleet.
type upstreams struct {
	servers []*mcptest.Server
	hosts   []*host
}

func startUpstreams(pollInterval time.Duration) (*upstreams, error) {
	u := &upstreams{}
	for _, name := range upstreamNames {
		s := &mcptest.Server{Name: name, SessionOptional: true, TTL: taskTTL, PollInterval: pollInterval}
		h, err := startHost(s)
		if err != nil {
			u.Close()
			return nil, err
		}
		u.servers = append(u.servers, s)
		u.hosts = append(u.hosts, h)
	}
	return u, nil
}

// Close stops the servers and frees their ports.
func (u *upstreams) Close() {
	for i, s := range u.servers {
		s.Close()
		u.hosts[i].Close()
	}
}

// byName maps each upstream's name to its URL.
func (u *upstreams) byName() map[string]string {
	m := make(map[string]string, len(u.servers))
	for i, s := range u.servers {
		m[s.Name] = u.hosts[i].URL.String()
	}
	return m
}

func (u *upstreams) urls() []*url.URL {
	urls := make([]*url.URL, len(u.hosts))
	for i, h := range u.hosts {
		urls[i] = h.URL
	}
	return urls
}
