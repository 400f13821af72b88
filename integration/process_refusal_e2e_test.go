//go:build e2e

package integration

import (
	"net"
	"strings"
	"testing"

	"berth/internal/storage/redistest"

	"github.com/redis/go-redis/v9"
)

// redisRefusals are the ways in which a Redis that answers does not serve.
var redisRefusals = []struct {
	name  string
	begin func(testing.TB, *redistest.Server)
	end   func(*redistest.Server)

	// reads tells that what was stored before is still found.
	reads bool
}{
	{
		name: "memory is full",
		begin: func(t testing.TB, s *redistest.Server) {
			do(t, s, "CONFIG", "SET", "maxmemory-policy", "noeviction")
			do(t, s, "CONFIG", "SET", "maxmemory", "1")
		},
		end:   func(s *redistest.Server) { s.Do("CONFIG", "SET", "maxmemory", "0") },
		reads: true,
	},
	{
		name:  "read-only replica",
		begin: func(t testing.TB, s *redistest.Server) { replicate(t, s, "yes") },
		end:   func(s *redistest.Server) { s.Do("REPLICAOF", "NO", "ONE") },
		reads: true,
	},
	{
		name:  "replica without its master",
		begin: func(t testing.TB, s *redistest.Server) { replicate(t, s, "no") },
		end:   func(s *redistest.Server) { s.Do("REPLICAOF", "NO", "ONE") },
	},
}

func do(t testing.TB, s *redistest.Server, args ...string) {
	t.Helper()
	if got := s.Do(args...); got != "+OK" {
		t.Fatalf("%v: got %s, want OK", args, got)
	}
}

// replicate makes s the replica of a master that is not there.
func replicate(t testing.TB, s *redistest.Server, stale string) {
	t.Helper()
	host, port, err := net.SplitHostPort(freeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	do(t, s, "CONFIG", "SET", "replica-serve-stale-data", stale)
	do(t, s, "REPLICAOF", host, port)
}

// A Redis that takes no writes keeps no handle from its client, and what it refused
// it gets when it takes writes again.
func TestTasksAreMadeAndFoundThoughRedisRefuses(t *testing.T) {
	t.Parallel()
	const each = 20
	for _, refusal := range redisRefusals {
		t.Run(refusal.name, func(t *testing.T) {
			t.Parallel()
			fleet := startLocalFleet(t, nil)
			redis := redistest.Start(t)
			a := startWatched(t, fleet.fleet, "--store", redis.URL())
			b := startWatched(t, fleet.fleet, "--store", redis.URL())
			client := newModernClient(t)
			before := tasksMade(t, client, a.url(), each)

			refusal.begin(t, redis)
			during := tasksMade(t, client, a.url(), each)
			wantTasks(t, client, a.url(), during, each)
			wantTasks(t, client, b.url(), before, askingAtOnce)
			if refusal.reads {
				b.wantByStore(t, tally{}, each)
			}
			wantTasks(t, client, b.url(), during, askingAtOnce)
			got, err := client.poll(t, b.url(), "known-to-nobody")
			if wantCode := codeOfUnknown(refusal.reads); err != nil || got.Error.Code != wantCode {
				t.Errorf("an unknown id: got %v, %v, want %d", got, err, wantCode)
			}

			refusal.end(redis)
			awaitBound(t, redis, 2*each)
			fleet.wantExecutions(t, 2*each)
		})
	}
}

// codeOfUnknown is what is said of an id that the fleet denies: only a store that
// can be read can say that it does not exist.
func codeOfUnknown(readable bool) int {
	if readable {
		return -32602
	}
	return -31503
}

// A Redis that is still loading is away, not empty.
func TestLoadingRedisIsNotTakenForAnEmptyOne(t *testing.T) {
	t.Parallel()
	const tasks = 30
	fleet := startLocalFleet(t, nil)
	redis := redistest.Start(t, "--rdbcompression", "no", "--enable-debug-command", "local")
	a := startWatched(t, fleet.fleet, "--store", redis.URL())
	client := newModernClient(t)
	ids := tasksMade(t, client, a.url(), tasks)
	do(t, redis, "DEBUG", "POPULATE", "300", "filler", "1024")
	do(t, redis, "SAVE")
	redis.Restart("--key-load-delay", "10000", "--loading-process-events-interval-bytes", "1024")

	b := startWatched(t, fleet.fleet, "--store", redis.URL())
	b.awaitReadyz(t, storeAway)
	if got, err := client.poll(t, b.url(), "known-to-nobody"); err != nil || got.Error.Code != -31503 {
		t.Errorf("an unknown id while Redis loads: got %v, %v, want -31503", got, err)
	}
	wantTasks(t, client, b.url(), ids[:tasks/2], askingAtOnce)
	b.awaitReadyz(t, storeOK)
	wantTasks(t, client, b.url(), ids[tasks/2:], askingAtOnce)
	if got := b.polls(t, "store"); got < tasks/2 {
		t.Errorf("polls routed by the store: got %d, want the %d made once it had loaded", got, tasks/2)
	}
}

// A Redis that forgot the scripts, as one does that was restarted, is sent them anew.
func TestForgottenScriptsAreNotNoticed(t *testing.T) {
	t.Parallel()
	const rounds, each = 10, 20
	fleet := startLocalFleet(t, nil)
	redis := redistest.Start(t)
	b := startWatched(t, fleet.fleet, "--store", redis.URL())
	b.awaitReadyz(t, storeOK)
	client := newModernClient(t)
	for range rounds {
		flushed := make(chan struct{})
		go func() {
			defer close(flushed)
			redis.Do("SCRIPT", "FLUSH")
		}()
		wantTasks(t, client, b.url(), tasksMade(t, client, b.url(), each), each)
		<-flushed
	}
	late, wrong := b.storeErrors(t)
	if wrong != 0 {
		t.Errorf("operations that went wrong: got %d, want none", wrong)
	}
	if got := b.metric(t, "berth_bindings_total", `outcome="stored"`); got+late < rounds*each {
		t.Errorf("bindings stored at once: got %d (Redis was late for %d), want all %d", got, late, rounds*each)
	}
}

// With a password that Redis does not take, berth serves without sharing, says so, and
// tells the password to nobody. The right one heals it.
func TestRefusedPasswordIsSaidAndNotShown(t *testing.T) {
	t.Parallel()
	const right, wrong = "canary-right", "canary-wrong"
	fleet := startLocalFleet(t, nil)
	server := redistest.Start(t, "--requirepass", right)
	a := startWatched(t, fleet.fleet, "--store", "redis://:"+wrong+"@"+server.Addr+"/0")
	b := startWatched(t, fleet.fleet, "--store", "redis://:"+right+"@"+server.Addr+"/0")
	client := newModernClient(t)
	a.awaitReadyz(t, storeAway)
	b.awaitReadyz(t, storeOK)

	lonely := tasksMade(t, client, a.url(), 8)
	wantTasks(t, client, a.url(), lonely, askingAtOnce)
	wantTasks(t, client, b.url(), lonely, askingAtOnce)
	if got := b.polls(t, "asked"); got != len(lonely) {
		t.Errorf("polls that the other berth had to ask for: got %d, want all %d", got, len(lonely))
	}

	admin := connect(t, server, right)
	rotate(t, admin, wrong)
	a.awaitReadyz(t, storeOK)
	b.awaitReadyz(t, storeAway)
	wantTasks(t, client, b.url(), lonely, askingAtOnce)

	for _, berth := range []*watched{a, b} {
		_, readyz := berth.readyz(t)
		for where, text := range map[string]string{"/readyz": readyz, "/metrics": berth.scrape(t), "the log": berth.settled()} {
			if strings.Contains(text, "canary") {
				t.Errorf("%s shows a password:\n%s", where, text)
			}
		}
	}
}

// connect opens a connection that outlives a change of the password.
func connect(t testing.TB, s *redistest.Server, password string) *redis.Conn {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: s.Addr, Password: password})
	conn := client.Conn()
	t.Cleanup(func() {
		_ = conn.Close()
		_ = client.Close()
	})
	return conn
}

// rotate changes the password, and cuts those off who gave the old one.
func rotate(t testing.TB, admin *redis.Conn, password string) {
	t.Helper()
	if err := admin.ConfigSet(t.Context(), "requirepass", password).Err(); err != nil {
		t.Fatal(err)
	}
	if err := admin.Do(t.Context(), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").Err(); err != nil {
		t.Fatal(err)
	}
}
