package storage_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"berth/internal/storage"
	"berth/internal/storage/redistest"
	"berth/internal/storage/storagetest"
)

func TestMemoryKeepsTheContract(t *testing.T) {
	storagetest.TestEngine(t, func(t *testing.T) storage.Engine {
		return open(t, "memory:", storage.Options{})
	})
}

func TestRedisKeepsTheContract(t *testing.T) {
	keepsTheContract(t, redistest.Start(t).URL(), "ack")
}

func TestSentinelKeepsTheContract(t *testing.T) {
	t.Parallel()
	sentinels := redistest.StartSentinels(t, 1)
	for _, durability := range []string{"ack", "replicas:1"} {
		t.Run(durability, func(t *testing.T) { keepsTheContract(t, sentinels.URL(), durability) })
	}
}

func TestClusterKeepsTheContract(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, 1)
	for _, durability := range []string{"ack", "replicas:1"} {
		t.Run(durability, func(t *testing.T) { keepsTheContract(t, cluster.URL(), durability) })
	}
}

// The rights that operators are told to give are enough, as are those of 0.10.1, which had no PTTL.
func TestDocumentedRightsKeepTheContract(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	for user, rights := range map[string][]string{"documented": documentedRights(t), "former": append(documentedRights(t), "-pttl")} {
		server.Do(append([]string{"ACL", "SETUSER", user, "on", ">" + canary}, rights...)...)
		t.Run(user, func(t *testing.T) {
			keepsTheContract(t, "redis://"+user+":"+canary+"@"+server.Addr, "ack")
			log := server.Do("ACL", "LOG")
			if user == "documented" && strings.Contains(log, "command") {
				t.Errorf("refused: %s", log)
			}
		})
	}
}

// documentedRights are those of the operators' page.
func documentedRights(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/deploy/redis.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "ACL SETUSER berth on >PASSWORD ")
	rights, _, ended := strings.Cut(rest, "\n\n")
	if !found || !ended {
		t.Fatal("the page has no rights")
	}
	return strings.Fields(rights)
}

// keepsTheContract runs the contract on a Redis that the cases share.
func keepsTheContract(t *testing.T, url, durability string) {
	t.Helper()
	var opened atomic.Int64
	storagetest.TestEngine(t, func(t *testing.T) storage.Engine {
		return open(t, url, storage.Options{
			Prefix:     fmt.Sprintf("berth:%s%d:", t.Name(), opened.Add(1)),
			Durability: durability,
			Timeout:    patient,
		})
	})
}

func TestRedisOverAUnixSocket(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "redis.sock")
	redistest.Start(t, "--unixsocket", socket)
	s := open(t, "unix://"+socket+"?db=3", storage.Options{})
	put(t, s, "k", "v")
	if !reads(t, s, "k", "v") {
		t.Error("what was put was not read")
	}
}

// Stores of one prefix are one, those of another are strangers.
func TestPrefixesSeparateStores(t *testing.T) {
	server := redistest.Start(t)
	ours := open(t, server.URL(), storage.Options{})
	theirs := open(t, server.URL(), storage.Options{Prefix: "other:"})
	put(t, ours, "k", "v")
	if !reads(t, open(t, server.URL(), storage.Options{Prefix: "berth:"}), "k", "v") {
		t.Error("a second store of the same prefix does not read what the first wrote")
	}
	if _, created, err := theirs.PutIfAbsent(t.Context(), "k", nil, longLife); err != nil || !created {
		t.Errorf("PutIfAbsent under another prefix: got created %v, %v; want true", created, err)
	}
}

// A key under our prefix that another program wrote is neither absent nor an outage.
func TestForeignValuesAreUnavailable(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, server.URL(), storage.Options{})
	put(t, s, "ours", "v")
	server.Do("SET", "berth:text", "no version")
	server.Do("RPUSH", "berth:list", "x")
	for _, key := range []string{"text", "list"} {
		for range 5 {
			_, err := s.Get(t.Context(), key)
			unavailable(t, err, "other")
		}
		_, _, err := s.PutIfAbsent(t.Context(), key, nil, longLife)
		unavailable(t, err, "other")
	}
	if !reads(t, s, "ours", "v") || !s.Healthy() {
		t.Error("unreadable keys were taken for an outage")
	}
}
