package mcptest

import (
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	methodListen     = "subscriptions/listen"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// A filter says what a subscription is for (2026-07-28 subscriptions, "Notification
// Filter"; ext-tasks, "Task Status Notifications").
type filter struct {
	ToolsListChanged      bool     `json:"toolsListChanged,omitempty"`
	PromptsListChanged    bool     `json:"promptsListChanged,omitempty"`
	ResourcesListChanged  bool     `json:"resourcesListChanged,omitempty"`
	ResourceSubscriptions []string `json:"resourceSubscriptions,omitempty"`
	TaskIDs               []string `json:"taskIds,omitempty"`
}

// A news is a notification that the server has for its subscribers.
type news struct {
	method string
	params map[string]any
}

// wants reports whether the filter lets n through.
func (f filter) wants(n news) bool {
	switch n.method {
	case "notifications/tools/list_changed":
		return f.ToolsListChanged
	case "notifications/prompts/list_changed":
		return f.PromptsListChanged
	case "notifications/resources/list_changed":
		return f.ResourcesListChanged
	case "notifications/resources/updated":
		uri, _ := n.params["uri"].(string)
		return slices.Contains(f.ResourceSubscriptions, uri)
	}
	return false
}

// A board is where subscriptions look for news.
type board struct {
	mu      sync.Mutex // guards the fields below
	posted  []news
	changed chan struct{} // closed with the next change; nil until somebody waits
}

// post adds n, or only wakes those who wait if that is nil.
func (b *board) post(n *news) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n != nil {
		b.posted = append(b.posted, *n)
	}
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

// since returns the news after the first n, and what is closed when there is more.
func (b *board) since(n int) ([]news, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.changed == nil {
		b.changed = make(chan struct{})
	}
	return b.posted[n:len(b.posted):len(b.posted)], b.changed
}

// Announce tells subscribers of a change of the instance's own: a list_changed, or
// notifications/resources/updated with the resource's uri in params.
func (s *Server) Announce(method string, params map[string]any) {
	s.board.post(&news{method, params})
}

// A subscription is one stream of subscriptions/listen.
type subscription struct {
	s      *Server
	call   call
	filter filter
	told   map[string]string // task → status
	seen   int               // news on the board
	stream *eventStream
}

// listen serves subscriptions/listen until the client or the server goes. It agrees to
// everything but tasks that it does not hold.
func (s *Server) listen(w http.ResponseWriter, r *http.Request, c call) {
	sub := &subscription{s: s, call: c, filter: c.Params.Notifications, told: map[string]string{}}
	now := time.Now()
	sub.filter.TaskIDs = slices.DeleteFunc(slices.Clone(sub.filter.TaskIDs), func(id string) bool {
		t, ok := s.tasks.get(id, "", now)
		sub.told[id] = t.status(now)
		return !ok
	})
	earlier, _ := s.board.since(0)
	sub.seen = len(earlier)
	sub.stream = openStream(w, newID())
	sub.send("notifications/subscriptions/acknowledged", map[string]any{"notifications": sub.filter})
	for sub.stream.err == nil {
		posted, changed := s.board.since(sub.seen)
		sub.seen += len(posted)
		sub.tell(posted, time.Now())
		if !sub.wait(r, changed) {
			return
		}
	}
}

// tell sends what was posted, and which tasks have moved.
func (sub *subscription) tell(posted []news, now time.Time) {
	for _, n := range posted {
		if sub.filter.wants(n) {
			sub.send(n.method, n.params)
		}
	}
	for _, id := range sub.filter.TaskIDs {
		t, ok := sub.s.tasks.get(id, "", now)
		if ok && t.status(now) != sub.told[id] {
			sub.told[id] = t.status(now)
			sub.send("notifications/tasks", sub.s.notice(t, now))
		}
	}
}

// wait waits for the next news, or the next task to be due; false ends the
// subscription, in order if it is the server that goes.
func (sub *subscription) wait(r *http.Request, changed <-chan struct{}) bool {
	due := time.NewTimer(sub.nextDue())
	defer due.Stop()
	select {
	case <-changed:
	case <-due.C:
	case <-r.Context().Done():
		return false
	case <-sub.s.closed():
		sub.stream.send(answer(sub.call.ID, map[string]any{
			"resultType": "complete", "_meta": map[string]any{metaSubscription: sub.call.ID},
		}, nil))
		return false
	}
	return true
}

func (sub *subscription) nextDue() time.Duration {
	now, next := time.Now(), time.Hour
	for _, id := range sub.filter.TaskIDs {
		if t, ok := sub.s.tasks.get(id, "", now); ok && !t.terminal(now) {
			next = min(next, t.due.Sub(now))
		}
	}
	return next
}

func (sub *subscription) send(method string, params map[string]any) {
	out := map[string]any{"_meta": map[string]any{metaSubscription: sub.call.ID}}
	maps.Copy(out, params)
	sub.stream.send(notification(method, out))
}

// notice is a task as notifications/tasks shows it.
func (s *Server) notice(t task, now time.Time) map[string]any {
	v := s.extensionView(t, "", now)
	params := map[string]any{
		"taskId": v.TaskID, "status": v.Status, "createdAt": v.CreatedAt, "lastUpdatedAt": v.LastUpdatedAt,
		"ttlMs": v.TTLMs, "pollIntervalMs": v.PollIntervalMs,
	}
	if v.Result != nil {
		params["result"] = v.Result
	}
	return params
}
