//go:build e2e

package integration

import (
	"net/http"
	"testing"
	"time"

	"berth/internal/storage/redistest"

	"github.com/redis/go-redis/v9"
)

// A Redis that is not there yet keeps no berth from serving; when it comes, it is
// found, and hears of all that was bound without it.
func TestRedisThatComesLaterLearnsWhatWasBoundWithoutIt(t *testing.T) {
	t.Parallel()
	const tasks = 40
	fleet := startLocalFleet(t, nil)
	redis := redistest.Start(t)
	redis.Kill()
	a := startWatched(t, fleet.fleet, "--store", redis.URL())
	a.awaitReadyz(t, storeAway)
	if status, _ := a.readyz(t); status != http.StatusOK {
		t.Errorf("/readyz without Redis: got %d, want 200: berth serves", status)
	}
	if status, _ := fetch(t, a.admin+"/livez"); status != http.StatusOK {
		t.Errorf("/livez without Redis: got %d, want 200", status)
	}
	client := newModernClient(t)
	ids := tasksMade(t, client, a.url(), tasks)
	wantTasks(t, client, a.url(), ids, askingAtOnce)

	redis.Restart()
	a.awaitReadyz(t, storeOK)
	awaitBound(t, redis, tasks)
	b := startWatched(t, fleet.fleet, "--store", redis.URL())
	wantTasks(t, client, b.url(), ids, askingAtOnce)
	b.wantByStore(t, tally{}, tasks)
	fleet.wantExecutions(t, tasks)
}

// awaitBound waits until Redis holds the bindings of n tasks.
func awaitBound(t testing.TB, server *redistest.Server, n int) {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: server.Addr})
	defer client.Close()
	began := time.Now()
	var bound []string
	var err error
	if !await(t, healedWithin, func() bool {
		bound, err = client.Keys(t.Context(), "berth:task:*").Result()
		return err == nil && len(bound) == n
	}) {
		t.Fatalf("tasks bound in Redis: got %d, %v, want %d", len(bound), err, n)
	}
	t.Logf("%d tasks were bound in Redis after %v", n, time.Since(began).Round(time.Millisecond))
}

// What a berth knows it goes on knowing, however long Redis is away: what it bound
// itself, and what it once found there. No owner is looked up in Redis, and no poll waits
// for it.
func TestKnownTasksArePolledThroughALongOutage(t *testing.T) {
	t.Parallel()
	const outage = 30 * time.Second
	fleet := startLocalFleet(t, nil)
	redis := redistest.Start(t)
	a := startWatched(t, fleet.fleet, "--store", redis.URL())
	b := startWatched(t, fleet.fleet, "--store", redis.URL())
	b.awaitReadyz(t, storeOK)
	client := newModernClient(t)
	found := tasksMade(t, client, a.url(), 25)
	wantTasks(t, client, b.url(), found, askingAtOnce)
	b.wantByStore(t, tally{}, len(found))
	ids := append(found, tasksMade(t, client, b.url(), 25)...)
	before := b.held(t)

	redis.Kill()
	polling := startLoad(t, client, b, ids, 4)
	polling.goOn(outage)
	polling.end(t)
	if asked := b.metric(t, "berth_asks_total"); asked != 0 {
		t.Errorf("questions to the fleet: got %d, want none: the owners are known", asked)
	}
	if got := b.metric(t, "berth_lookups_total", `source="unavailable"`); got != 0 {
		t.Errorf("look-ups that needed the store: got %d, want none: the owners are known", got)
	}
	redis.Restart()
	b.awaitReadyz(t, storeOK)
	b.wantHeld(t, before, client)
}

// Without Redis nobody can say that an id does not exist: the fleet is asked, and if
// it does not know either, the client is told to come again.
func TestUnknownIdsAreNotDeniedWithoutRedis(t *testing.T) {
	t.Parallel()
	fleet := startLocalFleet(t, nil)
	redis := redistest.Start(t)
	b := startWatched(t, fleet.fleet, "--store", redis.URL())
	client := newModernClient(t)
	if got, err := client.poll(t, b.url(), "known-to-nobody"); err != nil || got.Error.Code != -32602 {
		t.Fatalf("with Redis: got %v, %v, want -32602", got, err)
	}
	elsewhere := client.create(t, fleet.fleet[1].url(), 600)

	redis.Kill()
	b.awaitReadyz(t, storeAway)
	for range 3 {
		got, err := client.poll(t, b.url(), "known-to-nobody-else")
		if err != nil {
			t.Fatal(err)
		}
		if got.status != http.StatusServiceUnavailable || got.Error.Code != -31503 || got.header.Get("Retry-After") == "" {
			t.Errorf("without Redis: got %v, want 503, -31503 and Retry-After", got)
		}
	}
	if got := client.get(t, b.url(), elsewhere.TaskID); got != elsewhere {
		t.Errorf("a task that an upstream knows: got %v, want %v", got, elsewhere)
	}

	redis.Restart()
	b.awaitReadyz(t, storeOK)
	if !await(t, healedWithin, func() bool {
		got, err := client.poll(t, b.url(), "known-to-nobody-else")
		return err == nil && got.Error.Code == -32602
	}) {
		t.Error("with Redis again: want -32602 for an id that nobody knows")
	}
}

// What one berth made without Redis another one finds by asking, at once, and both
// know the same when Redis is back.
func TestTasksMadeWithoutRedisAreFoundThroughAnotherBerth(t *testing.T) {
	t.Parallel()
	const tasks = 30
	fleet := startLocalFleet(t, nil)
	redis := redistest.Start(t)
	a := startWatched(t, fleet.fleet, "--store", redis.URL())
	b := startWatched(t, fleet.fleet, "--store", redis.URL())
	client := newModernClient(t)
	redis.Kill()
	ids := tasksMade(t, client, a.url(), tasks)
	wantTasks(t, client, b.url(), ids, askingAtOnce)
	if got := b.polls(t, "asked"); got != tasks {
		t.Errorf("polls that the other berth asked the fleet for: got %d, want all %d", got, tasks)
	}

	redis.Restart()
	awaitBound(t, redis, tasks)
	wantTasks(t, client, a.url(), ids, askingAtOnce)
	wantTasks(t, client, b.url(), ids, askingAtOnce)
	for _, berth := range []*watched{a, b} {
		if got := berth.metric(t, "berth_bindings_total", `outcome="collision"`); got != 0 {
			t.Errorf("collisions: got %d, want none: both berths mean the same owner", got)
		}
	}
	fleet.wantExecutions(t, tasks)
}

// Redis leaves while a call is under way and returns after its answer: the client
// gets its handle in between, and other berths know it afterwards.
func TestTaskAnsweredDuringAnOutageIsSharedAfterwards(t *testing.T) {
	t.Parallel()
	slow := newGate("slow_compute")
	fleet := startLocalFleet(t, slow.hold)
	redis := redistest.Start(t)
	a := startWatched(t, fleet.fleet, "--store", redis.URL())
	a.awaitReadyz(t, storeOK)
	client := newModernClient(t)
	made := make(chan answer, 1)
	go func() {
		got, _ := client.send(t, a.url(), "tools/call", "slow_compute", slowCompute(600)) // no answer bears no task
		made <- got
	}()
	if !await(t, readyWithin, func() bool { return fleet.calls("tools/call") == 1 }) {
		t.Fatal("the call did not reach the fleet")
	}
	redis.Kill()
	slow.open()
	task := (<-made).Result
	if task.TaskID == "" {
		t.Fatal("got no task without Redis")
	}

	redis.Restart()
	awaitBound(t, redis, 1)
	b := startWatched(t, fleet.fleet, "--store", redis.URL())
	client.get(t, b.url(), task.TaskID)
	b.wantByStore(t, tally{}, 1)
}

// A frozen Redis accepts connections and says nothing. Nobody waits for it for long,
// and what waits does not pile up.
func TestFrozenRedisHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	const clients = 16
	fleet := startLocalFleet(t, nil)
	redis := redistest.Start(t)
	a := startWatched(t, fleet.fleet, "--store", redis.URL())
	b := startWatched(t, fleet.fleet, "--store", redis.URL())
	client := newModernClient(t)
	known := tasksMade(t, client, a.url(), 64)
	wantTasks(t, client, a.url(), known, clients)
	before := a.held(t)

	redis.Stop()
	polling := startLoad(t, client, a, known, clients)
	during := tasksMade(t, client, a.url(), 20)
	wantTasks(t, client, b.url(), during, askingAtOnce)
	a.awaitReadyz(t, storeAway)
	polling.goOn(10 * time.Second)
	polling.end(t)
	if most := before.goroutines + 10*clients; polling.held.goroutines > most {
		t.Errorf("goroutines while frozen: got %d, want at most %d", polling.held.goroutines, most)
	}

	redis.Cont()
	a.awaitReadyz(t, storeOK)
	awaitBound(t, redis, len(known)+len(during))
	b.awaitReadyz(t, storeOK)
	since := b.tally(t)
	wantTasks(t, client, b.url(), known, askingAtOnce)
	b.wantByStore(t, since, len(known))
	a.wantHeld(t, before, client)
	fleet.wantExecutions(t, len(known)+len(during))
}
