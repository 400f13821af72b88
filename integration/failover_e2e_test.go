//go:build e2e

package integration

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/storage/redistest"
)

// trio is three berths on one store, in front of one fleet: a client makes tasks
// through the first and polls them through the others.
type trio struct {
	fleet  *localFleet
	berths [3]*watched
	client *modernClient
}

// startTrio starts them with what the configuration's [store] says beside the URL.
func startTrio(t testing.TB, store string) *trio {
	t.Helper()
	config := configFile(t, "[store]\n"+store)
	d := &trio{fleet: startLocalFleet(t, nil), client: newModernClient(t)}
	for i := range d.berths {
		d.berths[i] = startWatched(t, d.fleet.fleet, "--config", config)
		d.berths[i].awaitReadyz(t, storeOK)
	}
	return d
}

// through is what clients did while something befell the store.
type through struct {
	stop    chan struct{}
	running sync.WaitGroup

	mu  sync.Mutex // guards the field below
	ids []string   // of the tasks that clients were given
}

// makeAndPoll lets clients make tasks through the first berth, and poll each at once
// through another, which must know it or find it. The test fails for each call that
// is not answered with its task.
func (d *trio) makeAndPoll(t testing.TB, clients int) *through {
	t.Helper()
	w := &through{stop: make(chan struct{})}
	t.Cleanup(w.wait)
	for range clients {
		w.running.Go(func() {
			pause := time.NewTicker(pollPause)
			defer pause.Stop()
			for i := 0; ; i++ {
				select {
				case <-w.stop:
					return
				case <-pause.C:
					w.add(d.makeOne(t, d.berths[1+i%2]))
				}
			}
		})
	}
	return w
}

// makeOne makes a task and polls it through another berth. One that asks the fleet too
// often says so and is asked again, as a client would; one that says that there is
// no such task has lost it.
func (d *trio) makeOne(t testing.TB, other *watched) string {
	made, err := d.client.send(t, d.berths[0].url(), "tools/call", "slow_compute", slowCompute(3600))
	if err != nil || made.Result.TaskID == "" {
		t.Errorf("creating: got %v, %v, want a task", made, err)
		return ""
	}
	id := made.Result.TaskID
	await(t, healedWithin, func() bool {
		got, err := d.client.poll(t, other.url(), id)
		switch {
		case err == nil && got.Result.TaskID == id:
			return true
		case err == nil && got.status == http.StatusServiceUnavailable:
			return false
		}
		t.Errorf("polling %s: got %v, %v, want the task", id, got, err)
		return true
	})
	return id
}

func (w *through) add(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids = append(w.ids, id)
}

func (w *through) made() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.ids)
}

// goesOn waits until the clients were given that many more tasks.
func (w *through) goesOn(t testing.TB, more int) {
	t.Helper()
	want := w.made() + more
	if !await(t, healedWithin, func() bool { return w.made() >= want }) {
		t.Fatalf("tasks made: got %d, want %d", w.made(), want)
	}
}

func (w *through) wait() {
	select {
	case <-w.stop:
	default:
		close(w.stop)
	}
	w.running.Wait()
}

// settled waits until the first berth's store has all that was bound while it was away.
func (d *trio) settled(t testing.TB) {
	t.Helper()
	for _, b := range d.berths {
		b.awaitReadyz(t, storeOK)
	}
	first := d.berths[0]
	if !await(t, healedWithin, func() bool {
		local := first.metric(t, "berth_bindings_total", `outcome="local"`)
		return first.metric(t, "berth_bindings_total", `outcome="written_back"`) == local
	}) {
		t.Error("bindings made without the store were not all written back")
	}
}

// wantAllStored fails the test unless a berth that knows nothing yet finds every task
// in the store, without asking the fleet.
func (d *trio) wantAllStored(t testing.TB, url string, ids []string) {
	t.Helper()
	fresh := startWatched(t, d.fleet.fleet, "--store", url)
	fresh.awaitReadyz(t, storeOK)
	wantTasks(t, d.client, fresh.url(), ids, askingAtOnce)
	if got := fresh.polls(t, "store"); got != len(ids) {
		t.Errorf("tasks that the store has: got %d, want all %d", got, len(ids))
	}
	d.fleet.wantExecutions(t, len(ids))
}

// outageBound bounds an outage. Sentinels and nodes need two to four seconds, which the
// log tells; but sentinels that a busy machine kept waiting look on for half a minute
// before they act.
const outageBound = time.Minute

// D9: the master is killed. Clients notice nothing, the store is back within seconds,
// and with replicas:1 no binding that counted as stored is lost.
func TestKilledMasterCostsNoTask(t *testing.T) {
	t.Parallel()
	sentinels := redistest.StartSentinels(t, 2)
	d := startTrio(t, "durability = \"replicas:1\"\nurl = \""+sentinels.URL()+"\"\n")
	load := d.makeAndPoll(t, 2)
	load.goesOn(t, 100)
	sentinels.Master().Kill()
	d.awaitOutage(t)
	load.goesOn(t, 50)
	load.wait()
	d.settled(t)
	d.wantAllStored(t, sentinels.URL(), load.ids)
}

// D10: the master freezes, is replaced, and wakes up again. What it took and no replica
// has is not lost: it did not count as stored.
func TestFrozenMasterCostsNoTask(t *testing.T) {
	t.Parallel()
	sentinels := redistest.StartSentinels(t, 2)
	d := startTrio(t, "durability = \"replicas:1\"\nurl = \""+sentinels.URL()+"\"\n")
	load := d.makeAndPoll(t, 2)
	load.goesOn(t, 100)
	master := sentinels.Master()
	master.Stop()
	d.awaitOutage(t)
	master.Cont()
	load.goesOn(t, 100)
	load.wait()
	d.settled(t)
	d.wantAllStored(t, sentinels.URL(), load.ids)
}

// awaitOutage waits until every berth has lost the store and found it again, and logs
// how long that took.
func (d *trio) awaitOutage(t testing.TB) {
	t.Helper()
	for i, b := range d.berths {
		if !await(t, outageBound, func() bool { return strings.Contains(b.output.String(), `"store is back"`) }) {
			t.Errorf("berth %d: the store is not back within %v", i, outageBound)
		}
		for _, line := range b.output.lines() {
			if strings.Contains(line, `"store is back"`) {
				t.Logf("berth %d: %s", i, line)
			}
		}
	}
}

// D17: slots move from node to node and back while clients go on, and nobody notices.
func TestReshardingIsNotNoticed(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, 0)
	d := startTrio(t, "url = \""+cluster.URL()+"\"\n")
	load := d.makeAndPoll(t, 2)
	load.goesOn(t, 50)
	for slot := 0; slot < fewerInRace(400); slot++ {
		cluster.Move(slot, cluster.Nodes[0], cluster.Nodes[1+slot%2])
	}
	load.goesOn(t, 50)
	load.wait()
	for i, b := range d.berths {
		late, wrong := b.storeErrors(t)
		if wrong != 0 {
			t.Errorf("berth %d: operations that went wrong: got %d, want none", i, wrong)
		}
		t.Logf("berth %d: operations for which the store was late: %d", i, late)
	}
	d.settled(t)
	d.wantAllStored(t, cluster.URL(), load.ids)
}

// D17: a node is killed and its replica takes over.
func TestKilledNodeCostsNoTask(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, 1)
	d := startTrio(t, "durability = \"replicas:1\"\nurl = \""+cluster.URL()+"\"\n")
	load := d.makeAndPoll(t, 2)
	load.goesOn(t, 100)
	cluster.Nodes[0].Kill()
	d.awaitOutage(t)
	load.goesOn(t, 50)
	cluster.Nodes[0].Restart() // as the replica that its replica needs, to have bindings confirmed
	load.goesOn(t, 50)
	load.wait()
	d.settled(t)
	d.wantAllStored(t, cluster.URL(), load.ids)
	for i, b := range d.berths {
		// A CROSSSLOT would be one of these, and so would a redirection that nobody followed.
		if got := b.metric(t, "berth_store_errors_total", `reason="other"`); got != 0 {
			t.Errorf("berth %d: operations that failed for a reason of their own: got %d, want none", i, got)
		}
	}
}
