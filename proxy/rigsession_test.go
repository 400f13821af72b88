package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"berth/internal/mcptest"
	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"
	"berth/upgrade"
)

// sessionRig is a berth that makes tasks of the calls of an instance of 2025-11-25 that has
// sessions, no tasks, and a tool that asks in mid-call; and a client in a session with it.
type sessionRig struct {
	*upgraded
	session string
}

func newSessionRig(t *testing.T, o rigOptions) *sessionRig {
	t.Helper()
	o.server = func(s *mcptest.Server) { s.SessionOptional, s.Taskless, s.Errands = false, true, true }
	f := &sessionRig{upgraded: newUpgraded(t, o, nil)}
	f.session = f.initialize()
	return f
}

// beside is another berth on that store, before as many instances as f.
func (f *sessionRig) beside(store *storage.Store, change ...func(*rigOptions)) *rig {
	f.t.Helper()
	o := rigOptions{tcp: f.tcp, size: len(f.servers), store: store}
	for _, change := range change {
		change(&o)
	}
	o, run := withGreetings(f.t, o, everyTool(nil))
	g := f.second(o)
	run(g)
	realtest.Eventually(f.t, "a store that serves", store.Healthy)
	return g
}

// newSessionPair is two berths on one Redis.
func newSessionPair(t *testing.T) (f *sessionRig, g *rig, redis *redistest.Server) {
	t.Helper()
	redis = redistest.Start(t)
	f = newSessionRig(t, rigOptions{tcp: true, store: openStore(t, redis.URL())})
	return f, f.beside(openStore(t, redis.URL())), redis
}

// errand has berth make a task of a call in the session, with these arguments and pairs of
// headers.
func (f *sessionRig) errand(arguments string, header ...string) (id string) {
	f.t.Helper()
	call := message("tools/call", `"name":"errand","task":{},"arguments":{"label":"job",`+arguments+`}`)
	r := f.do(f.request(f.t.Context(), http.MethodPost, call, append(legacyHeader(f.session), header...)...))
	m := r.message(f.t)
	if m.Result == nil || m.Result.Task == nil {
		f.t.Fatalf("no task in %v", r)
	}
	return m.Result.Task.TaskID
}

// view is the task as berth knows it.
func (f *sessionRig) view(id string) upgrade.View {
	f.t.Helper()
	v, err := f.tasks.Reader.Get(f.t.Context(), id, upgrade.Asker{Pool: "p"})
	if err != nil {
		f.t.Fatal(err)
	}
	return v
}

// status is that of a task.
func (f *sessionRig) status(id string) string {
	f.t.Helper()
	v := f.view(id)
	return v.Status()
}

// reaches waits until a task has this status.
func (f *sessionRig) reaches(id, status string) upgrade.View {
	f.t.Helper()
	f.eventually("task "+status, func() bool { return f.status(id) == status })
	return f.view(id)
}

// asks waits until the client is asked so many things, and returns the ids of the requests.
func (f *sessionRig) asks(id string, n int) (ids []string) {
	f.t.Helper()
	f.eventually("open asks", func() bool {
		ids = nil
		view := f.view(id)
		for _, ask := range view.OpenAsks() {
			ids = append(ids, ask.Key)
		}
		return len(ids) == n
	})
	return ids
}

// answersOf are what an errand that has ended was answered.
func (f *sessionRig) answersOf(id string) string {
	f.t.Helper()
	var result struct {
		StructuredContent struct{ Answers json.RawMessage }
	}
	if err := json.Unmarshal(f.reaches(id, "completed").Outcome, &result); err != nil {
		f.t.Fatal(err)
	}
	return string(result.StructuredContent.Answers)
}

// respond posts a client's response in the session; outcome is `"result":…` or `"error":…`.
func (f *rig) respond(session, id, outcome string, header ...string) reply {
	f.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0", "id":%s,%s}`, id, outcome)
	return f.do(f.request(f.t.Context(), http.MethodPost, body, append(legacyHeader(session), header...)...))
}

// end sends the DELETE of a session.
func (f *rig) end(session string, header ...string) reply {
	f.t.Helper()
	return f.do(f.request(f.t.Context(), http.MethodDelete, "", append(legacyHeader(session), header...)...))
}

// standing is a standing stream of a session.
type standing struct {
	leave context.CancelFunc
	over  chan struct{} // closed when it has ended

	mu     sync.Mutex // guards the field below
	blocks []string   // events and comments, each without its empty line
}

// stand opens a standing stream, and waits for what the instance says first.
func (f *rig) stand(session string, header ...string) *standing {
	f.t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	f.t.Cleanup(leave)
	resp := f.open(f.request(ctx, http.MethodGet, "", append(legacyHeader(session), header...)...))
	if resp.StatusCode != http.StatusOK {
		f.t.Fatalf("standing stream: got %d", resp.StatusCode)
	}
	s := &standing{leave: leave, over: make(chan struct{})}
	go s.read(newEventLines(f.t, resp))
	f.eventually("a stream that stands", func() bool { return len(s.heard()) > 0 })
	return s
}

func (s *standing) read(in *eventLines) {
	defer close(s.over)
	var block strings.Builder
	for {
		line, err := in.r.ReadString('\n')
		if err != nil {
			return
		}
		if line != "\n" {
			block.WriteString(line)
			continue
		}
		s.mu.Lock()
		s.blocks = append(s.blocks, strings.TrimSuffix(block.String(), "\n"))
		s.mu.Unlock()
		block.Reset()
	}
}

// heard are the events and comments so far.
func (s *standing) heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.blocks...)
}

// statuses are the states of tasks that were told, in order, each with its message if it
// has one; ids are those of events that bear one all the same.
func (s *standing) statuses() (told []string, withID int) {
	for _, block := range s.heard() {
		var m struct {
			Method string
			Params struct{ TaskID, Status string }
		}
		events := eventsIn(block + "\n\n")
		if len(events) == 0 || json.Unmarshal([]byte(events[0]), &m) != nil || m.Method != "notifications/tasks/status" {
			continue
		}
		told = append(told, m.Params.Status)
		if strings.Contains(block, "id: ") {
			withID++
		}
	}
	return told, withID
}

func (s *standing) isOver() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}
