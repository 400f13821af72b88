//go:build e2e

package integration

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"berth/internal/storage/redistest"
)

// A slow line to Redis costs what is asked of Redis, and that is one GET for an id
// that this berth does not know, whoever asks, and nothing for one that it knows.
func TestSlowLineToRedisIsPaidOncePerUnknownID(t *testing.T) {
	t.Parallel()
	const tasks, clients = 20, 5
	fleet := startLocalFleet(t, nil)
	redis := redistest.Start(t)
	line := redistest.Relay{Delay: 100 * time.Millisecond}
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
	if got := a.gets(t); got != 0 {
		t.Errorf("GETs of the berth that made the tasks: got %d, want none", got)
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
	if got := b.gets(t); got > tasks+now.away {
		t.Errorf("GETs for %d tasks of another berth, polled by %d clients: got %d, want one each", tasks, clients, got)
	}
	if now.asked > now.away {
		t.Errorf("polls that the fleet was asked for: got %d, want none", now.asked)
	}
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
	const subscriptions, idsEach = 100, 200
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
