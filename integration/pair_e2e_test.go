//go:build e2e

package integration

import (
	"math/rand/v2"
	"testing"

	"berth/internal/storage/redistest"
)

// pair is two berths on one Redis, in front of one fleet, and a round robin in front
// of both: no two requests of a client in a row go through the same berth, unless
// another client's came in between.
type pair struct {
	redis  *redistest.Server
	berths [2]*berth
	url    string
}

func startPair(t testing.TB, f fleet) *pair {
	t.Helper()
	p := &pair{redis: redistest.Start(t)}
	var urls []string
	for i := range p.berths {
		p.berths[i] = startBerth(t, f, "--store", p.redis.URL())
		urls = append(urls, p.berths[i].url())
	}
	p.url = roundRobin(t, urls)
	return p
}

func TestClientsThroughTwoBerths(t *testing.T) {
	for _, m := range matrix {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			fleet := m.fleet(t)
			pair := startPair(t, fleet)
			got := drive(t, m.driver, pair.url, matrixCalls)
			t.Logf("%v", got)
			got.wantAllRight(t)
			fleet.wantAllAtWork(t, m.work)
			if m.counts {
				fleet.wantToolCalls(t, matrixCalls)
			}
			for _, berth := range pair.berths {
				berth.wantAllUsed(t, fleet)
			}
		})
	}
}

// wantNoneAsked fails the test if a berth had to ask the fleet for an owner: with
// Redis there, the map alone must know.
func (p *pair) wantNoneAsked(t testing.TB) {
	t.Helper()
	for i, berth := range p.berths {
		sources := berth.count(func(r record) string { return r.Source })
		if sources["asked"] != 0 {
			t.Errorf("berth %d: sources of owners: got %v, want none asked", i, sources)
		}
	}
}

// The other berth knows a task before the first one's answer is out: a poll through
// it has no time to be early.
func TestTaskMadeThroughOneBerthResolvesThroughTheOtherAtOnce(t *testing.T) {
	t.Parallel()
	pair := startPair(t, tasksFleet(t, 3, jsonAnswers))
	client := newModernClient(t)
	for i := range fewerInRace(2000) {
		one := rand.IntN(2)
		made := client.create(t, pair.berths[one].url(), 600)
		if got := client.get(t, pair.berths[1-one].url(), made.TaskID); got != made {
			t.Fatalf("task %d: got %v, want %v", i, got, made)
		}
	}
	pair.wantNoneAsked(t)
}

// A berth that dies takes no binding with it.
func TestTasksOutliveTheBerthThatMadeThem(t *testing.T) {
	t.Parallel()
	const tasks = 50
	pair := startPair(t, tasksFleet(t, 3, jsonAnswers))
	client := newModernClient(t)
	made := make([]taskView, 0, tasks)
	for range tasks {
		made = append(made, client.create(t, pair.berths[0].url(), 600))
	}
	pair.berths[0].kill()
	for _, i := range rand.Perm(tasks) {
		if got := client.get(t, pair.berths[1].url(), made[i].TaskID); got != made[i] {
			t.Errorf("got %v, want %v", got, made[i])
		}
	}
	pair.wantNoneAsked(t)
}
