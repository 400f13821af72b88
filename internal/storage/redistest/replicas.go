package redistest

import (
	"fmt"
	"strings"
	"testing"

	"berth/internal/realtest"
)

// syncAtOnce keeps a master from waiting for more replicas before it sends them what
// it has.
var syncAtOnce = []string{"--repl-diskless-sync-delay", "0"}

// StartReplicas starts a master, which comes first, and that many replicas, and waits
// until those have all that it has. args are added to all command lines.
func StartReplicas(t testing.TB, replicas int, args ...string) []*Server {
	t.Helper()
	args = append(args[:len(args):len(args)], syncAtOnce...)
	master := Start(t, args...)
	servers := []*Server{master}
	for range replicas {
		servers = append(servers, Start(t, append([]string{"--replicaof", master.host(), master.port()}, args...)...))
	}
	master.awaitReplicas(replicas)
	return servers
}

// awaitReplicas writes something and waits until that many replicas have said that
// they have it: one that is called online may not have begun to take what is written.
func (s *Server) awaitReplicas(replicas int) {
	s.t.Helper()
	s.touch()
	realtest.Eventually(s.t, "the replicas are up to date", func() bool {
		info := s.Do("INFO", "replication")
		_, offset, _ := strings.Cut(info, "master_repl_offset:")
		offset, _, _ = strings.Cut(offset, "\r\n")
		return strings.Count(info, "state=online,offset="+offset+",") == replicas
	})
}

// keysTried is how many keys it may take to find one that a cluster's master holds.
const keysTried = 1000

// touch writes a key that a master holds and that is gone at once.
func (s *Server) touch() {
	s.t.Helper()
	for i := range keysTried {
		if s.Do("SET", fmt.Sprintf("touch-%d", i), "", "PX", "1") == "+OK" {
			return
		}
	}
	s.t.Fatalf("%s holds no key", s.Addr)
}
