//go:build e2e

package integration

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage/redistest"
)

// A slow line to Redis costs what is asked of Redis, and that is one GET for an id
// that this berth does not know, whoever asks, and nothing for one that it knows.
func TestSlowLineToRedisIsPaidOncePerUnknownID(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]*redistest.Relay{
		"100 ms":  {Delay: 100 * time.Millisecond},
		"10 kB/s": {Rate: 10_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slowLineIsPaidOnce(t, line)
		})
	}
}

func slowLineIsPaidOnce(t *testing.T, line *redistest.Relay) {
	t.Helper()
	const tasks, clients = 20, 5
	fleet := startLocalFleet(t, nil)
	redis := redistest.Start(t)
	executed := redis.Monitor()
	line.Start(t, redis.Addr)
	url := "redis://" + line.Addr() + "/0"
	a := startWatched(t, fleet.fleet, "--store", url)
	b := startWatched(t, fleet.fleet, "--store", url)
	client := newModernClient(t)
	ids := tasksMade(t, client, a.url(), tasks)
	b.awaitReadyz(t, storeOK)

	for range clients {
		wantTasks(t, client, a.url(), ids, askingAtOnce)
	}
	if got := bindingsRead(t, redis, executed); got != 0 {
		t.Errorf("bindings read by the berth that made the tasks: got %d, want none", got)
	}
	callers := make([]*modernClient, clients)
	for i := range callers {
		callers[i] = newModernClient(t)
		callers[i].token = fmt.Sprint(i)
	}
	crowd(t, tasks*clients, clients, func(i int) {
		id := ids[i/clients]
		if got, err := callers[i%clients].poll(t, b.url(), id); err != nil || got.Result.TaskID != id {
			t.Errorf("polling %s: got %v, %v, want the task", id, got, err)
		}
	})
	wantTasks(t, client, b.url(), ids, askingAtOnce)
	now := b.tally(t)
	if got := bindingsRead(t, redis, executed); got > tasks+now.away {
		t.Errorf("bindings read of %d tasks of another berth, polled by %d clients: got %d, want one each", tasks, clients, got)
	}
	if now.asked > now.away {
		t.Errorf("polls that the fleet was asked for: got %d, want none", now.asked)
	}
}

// bindingsRead is how many GETs of a task's binding Redis has executed. Other GETs are berth's own:
// of the marks of a drain, every few seconds.
func bindingsRead(t *testing.T, redis *redistest.Server, executed *realtest.Journal) int {
	t.Helper()
	const last = "all-before-this-was-told"
	before := executed.Count(last)
	redis.Do("ECHO", last)
	realtest.Eventually(t, "what Redis executed is told", func() bool { return executed.Count(last) > before })
	return executed.Count(`"get" "berth:task:`)
}

// gets is how many GETs berth has sent to Redis.
func (b *watched) gets(t testing.TB) int {
	t.Helper()
	return b.metric(t, "berth_store_operation_duration_seconds_count", `operation="get"`)
}

// "No such key" is an answer. However many there are, Redis is well; and it is away
// as soon as it is away, and back as soon as it is back.
func TestManyMissesAreNoOutage(t *testing.T) {
	t.Parallel()
	const idsEach = 200
	subscriptions := fewerInRace(100)
	streams := newGate("") // holds no tool
	fleet := startLocalFleet(t, streams.listen)
	redis := redistest.Start(t)
	b := startWatched(t, fleet.fleet, "--store", redis.URL(), "--config", configFile(t, "[limits]\nunknown_ids = \"0/s\"\n"))
	b.awaitReadyz(t, storeOK)
	client := newModernClient(t)
	streams.open()
	crowd(t, subscriptions, 8, func(i int) {
		ids := make([]string, idsEach)
		for j := range ids {
			ids[j] = fmt.Sprintf("nobodys-%d-%d", i, j)
		}
		got, err := client.send(t, b.url(), "subscriptions/listen", "", listenTo(ids...))
		if err != nil || got.status != http.StatusOK {
			t.Errorf("listening: got %v, %v", got, err)
		}
	})
	// All but those that a busy machine may cost: an open breaker would cost nearly all.
	if got := b.gets(t); got < subscriptions*idsEach*9/10 {
		t.Errorf("GETs that reached Redis: got %d, want %d", got, subscriptions*idsEach)
	}
	b.awaitReadyz(t, storeOK)

	redis.Kill()
	b.awaitReadyz(t, storeAway)
	redis.Restart()
	b.awaitReadyz(t, storeOK)
}

// listenTo are the params of a subscription to tasks.
func listenTo(ids ...string) map[string]any {
	return map[string]any{"notifications": map[string]any{"taskIds": ids}}
}
