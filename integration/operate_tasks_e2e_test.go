//go:build e2e

package integration

import (
	"net/url"
	"slices"
	"testing"
	"time"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/upgrade/queues"
)

// order asks an admin listener, and reads the answer into out; it returns the code of a fault. On a machine that is
// busy the store may once be too slow for berth, which is no answer.
func order(t testing.TB, address, method, path string, in, out any) (code string) {
	t.Helper()
	await(t, readyWithin, func() bool {
		code = ""
		err := admin.NewClient(address, "").Call(t.Context(), method, path, in, out)
		if fault, ok := err.(*admin.Fault); ok {
			code = fault.Code
		} else if err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
		return code != "store_unavailable"
	})
	return code
}

// detail is a task as an operator is told of it.
func detail(t testing.TB, address, id string) (told api.TaskDetail) {
	t.Helper()
	if code := order(t, address, "GET", "/v1/tasks/"+url.PathEscape(id), nil, &told); code != "" {
		t.Fatalf("%s: %s", id, code)
	}
	return told
}

func lived(d api.TaskDetail) (steps []string) {
	for _, m := range d.Timeline {
		steps = append(steps, m.What)
	}
	return steps
}

// Operators find, cancel and hold up tasks at whichever berth they ask, and see what became of those whose
// holder is killed.
func TestOperatorsSeeAndOrderTasks(t *testing.T) {
	t.Parallel()
	fleet := startProcesses(t, "a")
	berths, admins := drainingPair(t, fleet, "[store]\nholder_lease = \"3s\"\n[[pools]]\n[[upgrade]]\ntools = [\"slow_compute\"]\nconcurrency = 1\n")
	client := newModernClient(t)
	runs := client.create(t, berths[0].url(), 60).TaskID
	if !await(t, readyWithin, func() bool { return detail(t, admins[1], runs).State == "dispatched" }) {
		t.Fatalf("the first call is not sent: %+v", detail(t, admins[1], runs))
	}
	var waiting []string
	for range 3 {
		waiting = append(waiting, client.create(t, berths[0].url(), 1).TaskID)
	}
	var told api.Tasks
	if !await(t, readyWithin, func() bool {
		order(t, admins[1], "GET", "/v1/tasks?state=queued&tool=slow_*", nil, &told)
		return told.Total == 3 && told.Tasks[0].Place > 0
	}) {
		t.Fatalf("three calls wait, and the other berth tells %+v", told)
	}
	holder := detail(t, admins[0], runs).Holder
	if told.Tasks[0].Holder != holder || holder == "" {
		t.Errorf("held by %q and by %q", told.Tasks[0].Holder, holder)
	}

	// Cancelled at the berth that does not hold it, its client learns by whom at the other one.
	var after api.TaskDetail
	if code := order(t, admins[1], "POST", "/v1/tasks/"+waiting[0]+"/cancel", map[string]any{}, &after); code != "" || after.State != "cancelled" {
		t.Errorf("cancel: %s, %+v", code, after)
	}
	if got, err := client.poll(t, berths[0].url(), waiting[0]); err != nil || got.Result.Status != "cancelled" || got.Result.StatusMessage != "cancelled by the operator" {
		t.Errorf("its client is told %+v, %v", got.Result, err)
	}
	if code := order(t, admins[0], "POST", "/v1/tasks/"+waiting[0]+"/cancel", map[string]any{}, &after); code != "ended" {
		t.Errorf("cancelled once more: %q", code)
	}

	// A pause at one berth holds at the other; the call that runs goes on until it is cancelled.
	var all api.Queues
	order(t, admins[0], "GET", "/v1/queues", nil, &all)
	if len(all.Queues) != 1 || all.Queues[0].Running != 1 || all.Queues[0].Waiting != 2 {
		t.Fatalf("got %+v", all)
	}
	queue := all.Queues[0].ID
	order(t, admins[1], "POST", "/v1/queues/"+queue+"/pause", api.PauseOrder{By: "ann"}, &all.Queues[0])
	time.Sleep(2 * queues.PauseFresh) // what every berth goes by a pause after
	order(t, admins[0], "GET", "/v1/queues", nil, &all)
	if !all.Queues[0].Paused || all.Queues[0].PausedBy != "ann" || detail(t, admins[0], runs).State != "dispatched" {
		t.Errorf("got %+v", all.Queues[0])
	}
	order(t, admins[0], "POST", "/v1/tasks/"+runs+"/cancel", map[string]any{}, &after)
	time.Sleep(2 * time.Second)
	if !await(t, readyWithin, func() bool {
		got, err := client.poll(t, berths[1].url(), waiting[1])
		return err == nil && got.Result.Status == "working" && got.Result.StatusMessage == "queued, 1st; paused"
	}) {
		t.Errorf("it is %+v", detail(t, admins[1], waiting[1]))
	}

	// The holder is killed: the other berth has what was not sent, and sends it once it may.
	berths[0].kill()
	if !await(t, 30*time.Second, func() bool { return slices.Contains(lived(detail(t, admins[1], waiting[2])), "adopted") }) {
		t.Errorf("after the death of its holder: %+v", detail(t, admins[1], waiting[2]))
	}
	if d := detail(t, admins[1], waiting[1]); d.State != "queued" || d.Holder == holder {
		t.Errorf("adopted, it is %s, held by %s", d.State, d.Holder)
	}
	order(t, admins[1], "POST", "/v1/queues/"+queue+"/resume", map[string]any{}, &all.Queues[0])
	for _, id := range waiting[1:] {
		if !await(t, 30*time.Second, func() bool { return detail(t, admins[1], id).State == "completed" }) {
			t.Errorf("resumed: %+v", detail(t, admins[1], id))
		}
	}
	d := detail(t, admins[1], waiting[1])
	if steps := lived(d); !slices.Equal(steps, []string{"made", "queued", "adopted", "sent", "ended"}) || d.Timeline[3].Upstream != "a" || d.Timeline[0].Holder != holder {
		t.Errorf("got %q: %+v", steps, d.Timeline)
	}
}

// A call that was sent is lost with its holder, and its time line says so; a server's own task is cancelled at
// its server.
func TestOperatorsSeeWhatWasLost(t *testing.T) {
	t.Parallel()
	fleet := startProcesses(t, "a")
	berths, admins := drainingPair(t, fleet, "[store]\nholder_lease = \"3s\"\n[[pools]]\n[[upgrade]]\ntools = [\"slow_compute\"]\n")
	client := newModernClient(t)
	lost := client.create(t, berths[0].url(), 60).TaskID
	if !await(t, readyWithin, func() bool { return detail(t, admins[1], lost).State == "dispatched" }) {
		t.Fatal("the call is not sent")
	}
	berths[0].kill()
	if !await(t, 30*time.Second, func() bool { return detail(t, admins[1], lost).State == "failed" }) {
		t.Fatalf("got %+v", detail(t, admins[1], lost))
	}
	d := detail(t, admins[1], lost)
	if last := d.Timeline[len(d.Timeline)-1]; last.What != "ended" || last.Detail != "failed holder_lost" || d.MayNot == "" {
		t.Errorf("got %+v", d)
	}

	plain, plainAdmins := drainingPair(t, fleet, "[[pools]]\n")
	own := client.create(t, plain[0].url(), 60).TaskID
	var told api.Tasks
	if !await(t, readyWithin, func() bool {
		order(t, plainAdmins[1], "GET", "/v1/tasks?kind=server", nil, &told)
		return told.Total == 1
	}) {
		t.Fatalf("the other berth tells %+v", told)
	}
	if one := told.Tasks[0]; one.ID != own || one.Upstream != "a" || one.Tool != "slow_compute" || one.Made.IsZero() {
		t.Errorf("got %+v", one)
	}
	var after api.TaskDetail
	if code := order(t, plainAdmins[1], "POST", "/v1/tasks/"+url.PathEscape(own)+"/cancel", map[string]any{}, &after); code != "" {
		t.Errorf("cancel: %s", code)
	}
	if !await(t, readyWithin, func() bool { return client.get(t, plain[0].url(), own).Status == "cancelled" }) {
		t.Errorf("its server says %+v", client.get(t, plain[0].url(), own))
	}
}
