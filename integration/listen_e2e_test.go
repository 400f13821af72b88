//go:build e2e

package integration

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/storage/redistest"
)

// heard is what one subscription hears, as it comes.
type heard struct {
	mu       sync.Mutex // guards the fields below
	agreed   []string   // task ids
	statuses map[string][]string
	changes  int // notifications/tools/list_changed
	messages int
	ended    bool
}

// hear opens a subscription to these tasks and to changes of the tools' list.
func hear(t testing.TB, client *modernClient, url string, ids []string) *heard {
	t.Helper()
	request := modernRequest(t, url, "subscriptions/listen", "", map[string]any{
		"notifications": map[string]any{"toolsListChanged": true, "taskIds": ids},
	})
	response, err := (&http.Client{Transport: client.http.Transport}).Do(request)
	if err != nil {
		t.Fatalf("listening: %v", err)
	}
	h := &heard{statuses: map[string][]string{}}
	go func() {
		defer response.Body.Close()
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data:"); ok {
				h.take([]byte(data))
			}
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.ended = true
	}()
	return h
}

func (h *heard) take(data []byte) {
	var m struct {
		Method string
		Params struct {
			Notifications struct{ TaskIDs []string }
			TaskID        string
			Status        string
		}
	}
	if json.Unmarshal(data, &m) != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.messages++
	switch m.Method {
	case "notifications/subscriptions/acknowledged":
		if h.messages == 1 {
			h.agreed = m.Params.Notifications.TaskIDs
		}
	case "notifications/tasks":
		h.statuses[m.Params.TaskID] = append(h.statuses[m.Params.TaskID], m.Params.Status)
	case "notifications/tools/list_changed":
		h.changes++
	}
}

// look reads what was heard so far.
func (h *heard) look(read func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	read()
}

func (h *heard) acknowledged() (n int) {
	h.look(func() { n = len(h.agreed) })
	return n
}

func (h *heard) toolChanges() (n int) {
	h.look(func() { n = h.changes })
	return n
}

// Through two berths, with tasks on three instances of a published server: one stream
// hears of all tasks and of every instance's changes. An instance that is killed takes
// its own tasks with it and nothing else, and is heard again when it is back.
func TestSubscriptionOutlivesAKilledInstance(t *testing.T) {
	t.Parallel()
	const tasks = 12
	config := configFile(t, "[[pools]]\npicker = \"round-robin\"\nfleet_notifications = true\n")
	fleet := tasksFleet(t, 3, jsonAnswers)
	redis := redistest.Start(t)
	berths := []*berth{
		startBerth(t, fleet, "--config", config, "--store", redis.URL()),
		startBerth(t, fleet, "--config", config, "--store", redis.URL()),
	}
	client := newModernClient(t)
	var ids []string
	for range tasks {
		ids = append(ids, client.create(t, berths[0].url(), 15).TaskID)
	}
	fleet.wantAllAtWork(t, stats.tasks)
	subscriptions := []*heard{hear(t, client, berths[0].url(), ids), hear(t, client, berths[1].url(), ids)}
	for _, s := range subscriptions {
		if !await(t, readyWithin, func() bool { return s.acknowledged() == tasks }) {
			t.Fatalf("acknowledged tasks: got %d, want %d", s.acknowledged(), tasks)
		}
	}

	killed := fleet[1]
	lost := killed.stats(t).Tasks
	killed.kill()
	fleet[1] = killed.again(t)
	for i, instance := range fleet {
		for _, s := range subscriptions {
			before := s.toolChanges()
			if !await(t, healedWithin, func() bool { instance.change(t); return s.toolChanges() > before }) {
				t.Errorf("subscription heard nothing of instance %d", i)
			}
		}
	}
	for _, s := range subscriptions {
		if !await(t, readyWithin, func() bool { return s.completed() == tasks-lost }) {
			t.Errorf("tasks that were told to have ended: got %d, want %d", s.completed(), tasks-lost)
		}
		s.look(func() {
			for id, statuses := range s.statuses {
				if strings.Join(statuses, " ") != "completed" {
					t.Errorf("task %s was told %v, want its end, once", id, statuses)
				}
			}
			if s.ended {
				t.Error("the stream ended")
			}
		})
	}
}

func (h *heard) completed() (n int) {
	h.look(func() { n = len(h.statuses) })
	return n
}

// change has the instance say that its tools have changed.
func (i *instance) change(t testing.TB) {
	t.Helper()
	response, err := (&http.Client{Timeout: time.Second}).Post(i.base+"/__changed", "", nil)
	if err != nil {
		return // it is not there yet
	}
	_ = response.Body.Close()
}

// again starts a killed instance anew, at its old address.
func (i *instance) again(t testing.TB) *instance {
	t.Helper()
	args := i.command.Args
	p := start(t, i.name, exec.Command(args[0], args[1:]...))
	if !p.awaitListening(t, strings.TrimPrefix(i.base, "http://")) {
		t.Fatalf("%s did not start again", i.name)
	}
	return &instance{process: p, base: i.base}
}
