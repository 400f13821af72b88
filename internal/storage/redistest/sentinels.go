package redistest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/realtest"
)

const (
	// masterName is what the sentinels call the set.
	masterName = "bindings"

	// sentinelCount is how many watch it, and sentinelQuorum how many must find the
	// master dead.
	sentinelCount  = 3
	sentinelQuorum = 2
)

// Sentinels is a master, its replicas, and three sentinels that watch them: they
// replace a master that was silent for a second.
type Sentinels struct {
	// Servers are the master that was first and its replicas.
	Servers []*Server

	// Watchers are the sentinels.
	Watchers []*Server

	t testing.TB
}

// StartSentinels starts such a set and waits until the sentinels know each other and
// every server. args are added to the command lines of the servers.
func StartSentinels(t testing.TB, replicas int, args ...string) *Sentinels {
	t.Helper()
	s := &Sentinels{t: t}
	s.Servers = StartReplicas(t, replicas, args...)
	for range sentinelCount {
		s.Watchers = append(s.Watchers, startSentinel(t, s.Servers[0]))
	}
	realtest.Eventually(t, "the sentinels know all servers and each other", func() bool { return s.ready(replicas) })
	return s
}

func startSentinel(t testing.TB, master *Server) *Server {
	t.Helper()
	s := &Server{t: t, Dir: t.TempDir()}
	s.config = filepath.Join(s.Dir, "sentinel.conf")
	text := fmt.Sprintf(`sentinel monitor %[1]s %[2]s %[3]s %[4]d
sentinel down-after-milliseconds %[1]s 1000
sentinel failover-timeout %[1]s 5000
`, masterName, master.host(), master.port(), sentinelQuorum)
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start(func() string { return freeAddr(t) })
	return s
}

func (s *Sentinels) ready(replicas int) bool {
	want := fmt.Sprintf("status=ok,address=%s,slaves=%d,sentinels=%d", s.Servers[0].Addr, replicas, sentinelCount)
	for _, watcher := range s.Watchers {
		info := watcher.Do("INFO", "sentinel")
		if !strings.Contains(info, want) || !strings.Contains(info, "sentinel_tilt:0") {
			return false
		}
	}
	return true
}

// URL is a store URL that names the sentinels.
func (s *Sentinels) URL() string {
	return "redis+sentinel://" + addresses(s.Watchers) + "/" + masterName + "/0"
}

// FailOver has a replica promoted though the master is well.
func (s *Sentinels) FailOver() {
	s.t.Helper()
	s.Watchers[0].want("OK", "SENTINEL", "FAILOVER", masterName)
}

// Master is the server that the sentinels take for the master, or nil while most of
// them do not agree.
func (s *Sentinels) Master() *Server {
	s.t.Helper()
	votes := make(map[*Server]int)
	for _, watcher := range s.Watchers {
		info := watcher.Do("INFO", "sentinel")
		for _, server := range s.Servers {
			if strings.Contains(info, "address="+server.Addr+",") {
				votes[server]++
			}
		}
	}
	for server, count := range votes {
		if count >= sentinelQuorum {
			return server
		}
	}
	return nil
}

// addresses are those of servers, as a URL lists them.
func addresses(servers []*Server) string {
	list := make([]string, 0, len(servers))
	for _, server := range servers {
		list = append(list, server.Addr)
	}
	return strings.Join(list, ",")
}
