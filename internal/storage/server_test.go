package storage_test

import (
	"strings"
	"testing"

	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"
)

// A server keeps its name as long as it keeps what it holds: not as another's replica. A cluster's is made of all its masters'.
func TestServerHasAnotherNameOnceItHasStartedAnew(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	cluster := redistest.StartCluster(t, 3, 0)
	for name, tc := range map[string]struct {
		url   string
		one   *redistest.Server
		names int
	}{
		"one server": {redis.URL(), redis, 1},
		"a cluster":  {cluster.URL(), cluster.Nodes[1], 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, tc.url, storage.Options{})
			put(t, s, "k", "v")
			first := serverOf(t, s)
			tc.one.Do("CLIENT", "KILL", "TYPE", "normal")
			if got := serverOf(t, s); got != first {
				t.Errorf("over new connections: %q, want %q", got, first)
			}
			if name == "one server" { // a cluster's would not be let
				tc.one.Do("REPLICAOF", "127.0.0.1", "1")
				tc.one.Do("REPLICAOF", "NO", "ONE")
				again := serverOf(t, s)
				if again == first {
					t.Errorf("a replica meanwhile: still %q", again)
				}
				first = again
			}
			tc.one.Restart()
			if got := serverOf(t, s); got == first || len(strings.Fields(got)) != tc.names {
				t.Errorf("started anew: %q, was %q", got, first)
			}
		})
	}
	if got := serverOf(t, open(t, "memory:", storage.Options{})); got != "" {
		t.Errorf("memory: %q", got)
	}
}

// serverOf asks until it is told.
func serverOf(t *testing.T, s *storage.Store) (name string) {
	t.Helper()
	realtest.Eventually(t, "told which server it is", func() bool {
		got, err := s.Server(t.Context())
		name = got
		return err == nil
	})
	return name
}
