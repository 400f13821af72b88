package storage_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/storage"
	"berth/internal/storage/redistest"
)

// inspected fails the test unless inspecting url finds as much as says has, in that
// order; "warning: " begins what says of a warning.
func inspected(t *testing.T, url string, opts storage.Options, says ...string) {
	t.Helper()
	inspectedBy(t.Context(), t, url, opts, says...)
}

func inspectedBy(ctx context.Context, t *testing.T, url string, opts storage.Options, says ...string) {
	t.Helper()
	found := storage.Inspect(ctx, url, opts)
	if len(found) != len(says) {
		t.Fatalf("%s: found %v, want %q", url, found, says)
	}
	for i, f := range found {
		want, warning := strings.CutPrefix(says[i], "warning: ")
		if f.Warning != warning || !strings.Contains(f.Text, want) || strings.Contains(f.Text, canary) {
			t.Errorf("%s: found %+v, want %q in it and no password", url, f, says[i])
		}
	}
}

// D13: a server that drops bindings is found before any was given to it.
func TestInspectFindsAServerThatDropsKeys(t *testing.T) {
	t.Parallel()
	for policy, says := range map[string][]string{
		"noeviction":   nil,
		"allkeys-lru":  {"maxmemory-policy is allkeys-lru"},
		"volatile-ttl": {"maxmemory-policy is volatile-ttl"},
	} {
		server := redistest.Start(t, "--maxmemory-policy", policy)
		inspected(t, server.URL(), storage.Options{}, says...)
		if keys := server.Do("DBSIZE"); keys != ":0" {
			t.Errorf("%s: keys afterwards: got %s, want none", policy, keys)
		}
	}
}

func TestInspectFindsWhatKeepsAServerAway(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--requirepass", canary)
	inspected(t, "redis://:"+canary+"@"+server.Addr, storage.Options{})
	inspected(t, "redis://:"+canary+"x@"+server.Addr, storage.Options{}, "WRONGPASS")
	inspected(t, server.URL(), storage.Options{}, "NOAUTH")
	server.Kill()
	inspected(t, "redis://:"+canary+"@"+server.Addr, storage.Options{}, "refused")
}

// A server that turns connections away says why, and that is what is told.
func TestWhatAFullServerSaysIsTold(t *testing.T) {
	t.Parallel()
	const full = "max number of clients "
	server := redistest.Start(t)
	guarded := "redis://:" + canary + "@" + server.Addr
	s := open(t, server.URL(), storage.Options{})
	fill(t, server)
	inspected(t, server.URL(), storage.Options{}, "ping: refused: ERR "+full)
	inspected(t, guarded, storage.Options{}, "ping: refused: ERR "+full)
	if _, err := s.Get(t.Context(), "k"); err == nil || !strings.Contains(err.Error(), full) {
		t.Errorf("got %v, want %q", err, full)
	}
	cluster := redistest.StartCluster(t, 3, 0)
	fill(t, cluster.Nodes[1])
	inspected(t, cluster.URL(), storage.Options{}, "warning: "+cluster.Nodes[1].Addr+" does not answer: ERR "+full, "ping: refused: ERR "+full)
}

// fill has a server take no more clients.
func fill(t *testing.T, server *redistest.Server) {
	t.Helper()
	client, err := net.Dial("tcp", server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	fmt.Fprint(client, "CONFIG SET maxclients 1\r\n")
	if said, err := bufio.NewReader(client).ReadString('\n'); err != nil || said != "+OK\r\n" {
		t.Fatalf("the server said %q, %v", said, err)
	}
}

// A user who may do less than berth does is found out, and one who may do just that
// needs no more, not even to be told of the policy.
func TestInspectFindsMissingPermissions(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	may := func(user string, rules ...string) string {
		server.Do(append([]string{"ACL", "SETUSER", user, "on", ">" + canary, "+ping"}, rules...)...)
		return "redis://" + user + ":" + canary + "@" + server.Addr
	}
	const untold = "warning: the server does not tell its maxmemory-policy"
	inspected(t, may("reader", "~*", "+get", "+info"), storage.Options{}, "NOPERM")
	inspected(t, may("stranger", "~other:*", "+@all"), storage.Options{}, "NOPERM")
	inspected(t, may("documented", documentedRights(t)...), storage.Options{})
	inspected(t, may("unexpiring", append(documentedRights(t), "-pexpireat")...), storage.Options{}, "what is made with a place in a list cannot be written")
	records := []string{"~berth:*", "+get", "+set", "+del", "+eval", "+evalsha", "+info"}
	inspected(t, may("former", records...), storage.Options{}, "lists cannot be read: ", "cannot be notified")
	lists := append(records, "+@sortedset", "+pexpireat", "+persist", "+time")
	inspected(t, may("mute", append(lists, "+subscribe", "resetchannels", "&berth:*")...), storage.Options{}, "cannot be notified")
	inspected(t, may("deaf", append(lists, "+publish", "resetchannels", "&berth:*")...), storage.Options{}, "cannot be heard")
	inspected(t, may("silent", append(lists, "+publish", "+subscribe", "resetchannels", "&berth:*", "-info")...), storage.Options{}, untold)
}

func TestInspectCountsReplicas(t *testing.T) {
	t.Parallel()
	master, replica := withReplica(t)
	inspected(t, master.URL(), storage.Options{Durability: "replicas:1"})
	inspected(t, master.URL(), storage.Options{Durability: "replicas:2"}, "followed by 1 replicas, and no write counts before 2")
	inspected(t, replica.URL(), storage.Options{}, "takes no writes")
}

func TestInspectAsksEverySentinel(t *testing.T) {
	t.Parallel()
	const unknown = `warning: knows no master "others"`
	set := redistest.StartSentinels(t, 1)
	inspected(t, set.URL(), storage.Options{Durability: "replicas:1"})
	inspected(t, strings.Replace(set.URL(), "/bindings", "/others", 1), storage.Options{},
		unknown, unknown, unknown, "ping")
	set.Watchers[1].Kill()
	inspected(t, set.URL(), storage.Options{}, "warning: "+set.Watchers[1].Addr+" does not answer")
}

// A sentinel that is frozen, though it is the first in the URL and guarded by a password, is no more than missed, and takes no more
// time than check --online has.
func TestInspectMissesAFrozenSentinel(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, 0)
	for _, watcher := range set.Watchers {
		watcher.Do("ACL", "SETUSER", "default", ">"+canary)
	}
	set.Watchers[0].Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	inspectedBy(ctx, t, set.URL()+"?sentinel_password="+canary, storage.Options{}, "warning: "+set.Watchers[0].Addr+" does not answer")
}

func TestInspectAsksEveryNode(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, 0)
	inspected(t, cluster.URL(), storage.Options{})
	cluster.Nodes[1].Do("CONFIG", "SET", "maxmemory-policy", "allkeys-lfu")
	inspected(t, cluster.URL(), storage.Options{}, cluster.Nodes[1].Addr+" drops bindings")
}

// A file that a berth serves from is not disturbed, one that is none of a berth's not
// touched, and one that does not exist not made.
func TestInspectLeavesFilesAsTheyAre(t *testing.T) {
	path, url := inFile(t)
	inspected(t, url, storage.Options{})
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("a file that did not exist: got %v, want that it does not", err)
	}
	s := open(t, url, storage.Options{})
	put(t, s, "k", "v")
	inspected(t, url, storage.Options{}, "warning: another process holds this file")
	put(t, s, "k", "w")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before := content(t, path)
	inspected(t, url, storage.Options{})
	if content(t, path) != before {
		t.Error("the file was changed")
	}
	if s := open(t, url, storage.Options{}); !reads(t, s, "k", "w") {
		t.Error("what was written is gone")
	}

	foreign := filepath.Join(t.TempDir(), "notes")
	if err := os.WriteFile(foreign, []byte(strings.Repeat("note ", 4096)), 0o600); err != nil {
		t.Fatal(err)
	}
	before = content(t, foreign)
	inspected(t, "file:"+foreign, storage.Options{}, foreign)
	if content(t, foreign) != before {
		t.Error("a stranger's file was changed")
	}
	inspected(t, "file:"+filepath.Join(t.TempDir(), "no", "berth.db"), storage.Options{}, "there is no directory")
}

func TestInspectFindsADirectoryThatCannotBeWritten(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	directory := t.TempDir()
	if err := os.Chmod(directory, 0o500); err != nil {
		t.Fatal(err)
	}
	inspected(t, "file:"+filepath.Join(directory, "berth.db"), storage.Options{}, "no file can be made in "+directory)
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
