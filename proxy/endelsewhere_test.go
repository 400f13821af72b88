package proxy_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// What a berth saw of a task before another one was told of its end is not told any more, though its instance does not say so
// here, and no refusal is final. The end is told as far as it is whole without what came of the task.
func TestAnEndThatAnotherBerthSawIsNotUndone(t *testing.T) {
	for name, lose := range map[string]func(*rigServer){"down": (*rigServer).kill, "empty": func(s *rigServer) { s.Restart() }} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := rigOptions{size: 1, probe: true, store: openStore(t, "memory:")}
				here := newRig(t, o)
				there := here.second(o)
				id, cancelled, core := here.newTask(1), here.newTask(3600), here.newCoreTask("", 1)
				polls := func(f *rig) []reply {
					return []reply{f.poll(id), f.poll(cancelled), f.legacy("", "tasks/get", byID(core))}
				}
				for _, r := range polls(here) {
					if m := r.message(t); m.Result == nil || m.Result.Status != "working" {
						t.Fatalf("before the end got %d %s", r.status, r.body)
					}
				}
				time.Sleep(2 * time.Second)
				there.modern("tasks/cancel", cancelled, byID(cancelled))
				polls(there)
				synctest.Wait()
				lose(here.servers[0])
				for range 3 {
					told := polls(here)
					told[0].fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
					for i, want := range map[int]string{1: "cancelled", 2: "completed"} {
						if m := told[i].message(t); m.Result == nil || m.Result.Status != want || m.Result.StatusMessage == "" {
							t.Errorf("got %d %s, want %s", told[i].status, told[i].body, want)
						}
					}
					here.legacy("", "tasks/result", byID(core)).fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
					if m := there.poll(id).message(t); m.Result == nil || m.Result.Status != "completed" {
						t.Errorf("who saw the end tells %+v", m)
					}
					time.Sleep(25 * time.Second)
				}
			})
		})
	}
}

// Who was never told of a task gets its owner's denial, and takes the end from nobody who was.
func TestADenialToWhoWasNotToldLeavesTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := rigOptions{size: 1, store: openStore(t, "memory:")}
		here := newRig(t, o)
		there, elsewhere := here.second(o), here.second(o)
		id, core := here.newTask(1), here.newCoreTask("", 1)
		here.poll(id)
		here.legacy("", "tasks/get", byID(core))
		time.Sleep(2 * time.Second)
		there.poll(id)
		there.legacy("", "tasks/get", byID(core))
		synctest.Wait()
		here.servers[0].Restart()
		for range 2 {
			for _, r := range []reply{here.poll(id, otherCaller...), elsewhere.poll(id), elsewhere.legacy("", "tasks/get", byID(core))} {
				if m := r.message(t); m.Error == nil || m.Error.Code != -32602 {
					t.Errorf("who was not told got %d %s, want the owner's own words", r.status, r.body)
				}
			}
			here.poll(id).fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
			for _, r := range []reply{here.legacy("", "tasks/get", byID(core)), there.poll(id)} {
				if m := r.message(t); m.Result == nil || m.Result.Status != "completed" {
					t.Errorf("who was told got %d %s, want the end", r.status, r.body)
				}
			}
			time.Sleep(10 * time.Second)
		}
	})
}

// Who explains such a task goes by what the store knows as well, whoever was told of it before.
func TestAnEndThatAnotherBerthSawIsExplained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := rigOptions{size: 1, probe: true, store: openStore(t, "memory:")}
		here := newRig(t, o)
		there := here.second(o)
		for seconds, want := range map[float64]string{1: "refuse", 3600: "answer"} {
			id := here.newTask(seconds)
			here.poll(id, otherCaller...)
			time.Sleep(2 * time.Second)
			there.modern("tasks/cancel", id, byID(id)) // of one that has ended it changes nothing
			there.poll(id)
			synctest.Wait()
			here.servers[0].freeze()
			here.poll(id, otherCaller...)
			told, err := here.proxy.Explainer().ByID(t.Context(), id, "", nil)
			if err != nil || told.Answer.Action != want {
				t.Errorf("a task of %v s: got %+v, %v, want %s", seconds, told, err, want)
			}
			here.servers[0].inject(nil)
			time.Sleep(3 * time.Second) // a probe gets through
		}
	})
}

// What came of a task that has failed may be the very error that denies a task, of invalid params: it is told though another berth saw the end.
func TestTheErrorOfATaskThatEndedElsewhereIsItsOutcome(t *testing.T) {
	for _, status := range []string{"failed", "cancelled", "completed"} {
		synctest.Test(t, func(t *testing.T) {
			o := rigOptions{size: 1, store: openStore(t, "memory:")}
			here := newRig(t, o)
			there := here.second(o)
			core := here.newCoreTask("", 3600)
			here.legacy("", "tasks/get", byID(core))
			here.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
				said := `{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"the tool's own"}}`
				if methodIn(body) == "tasks/get" {
					said = `{"jsonrpc":"2.0","id":ID,"result":{"taskId":"` + core + `","status":"` + status +
						`","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":60000}}`
				}
				return say(jsonType, withID(said, body))(w, r, body)
			})
			there.legacy("", "tasks/get", byID(core))
			synctest.Wait()
			time.Sleep(time.Second)
			r := here.legacy("", "tasks/result", byID(core))
			if status == "completed" { // its outcome is no error
				r.fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
			} else if !strings.Contains(r.body, "the tool's own") {
				t.Errorf("%s: got %d %s", status, r.status, r.body)
			}
		})
	}
}
