package mcptest

import "time"

// Task states, the same words in both dialects.
const (
	statusWorking   = "working"
	statusCompleted = "completed"
	statusCancelled = "cancelled"
)

// A task is one slow_compute. Its state is a function of the clock: working
// until due, completed from then on, unless it was cancelled before.
type task struct {
	id        string
	draft     bool   // it is of the first draft, and its client made the id
	session   string // the legacy session it belongs to, or empty
	label     string
	created   time.Time
	due       time.Time
	ttl       time.Duration // from created
	poll      time.Duration
	cancelled time.Time     // zero unless cancelled
	stopped   chan struct{} // closed when cancelled
}

func (t task) status(now time.Time) string {
	switch {
	case !t.cancelled.IsZero():
		return statusCancelled
	case now.Before(t.due):
		return statusWorking
	}
	return statusCompleted
}

func (t task) terminal(now time.Time) bool { return t.status(now) != statusWorking }

func (t task) expired(now time.Time) bool { return !now.Before(t.created.Add(t.ttl)) }

func (t task) updated(now time.Time) time.Time {
	switch t.status(now) {
	case statusCancelled:
		return t.cancelled
	case statusCompleted:
		return t.due
	}
	return t.created
}

// An extensionTask is a task as the extension shows it: flat, with a
// resultType, the result inlined (ext-tasks, "Tasks").
type extensionTask struct {
	ResultType     string      `json:"resultType"`
	TaskID         string      `json:"taskId"`
	Status         string      `json:"status"`
	StatusMessage  string      `json:"statusMessage,omitempty"`
	CreatedAt      string      `json:"createdAt"`
	LastUpdatedAt  string      `json:"lastUpdatedAt"`
	TTLMs          int64       `json:"ttlMs"`
	PollIntervalMs int64       `json:"pollIntervalMs"`
	Result         *toolResult `json:"result,omitempty"`
}

// A coreTask is a task as 2025-11-25 shows it (tasks, "Data Types").
type coreTask struct {
	TaskID        string `json:"taskId"`
	Status        string `json:"status"`
	StatusMessage string `json:"statusMessage,omitempty"`
	CreatedAt     string `json:"createdAt"`
	LastUpdatedAt string `json:"lastUpdatedAt"`
	TTL           int64  `json:"ttl"`
	PollInterval  int64  `json:"pollInterval"`
}

func (s *Server) extensionView(t task, resultType string, now time.Time) extensionTask {
	v := extensionTask{
		ResultType:     resultType,
		TaskID:         t.id,
		Status:         t.status(now),
		StatusMessage:  s.statusMessage(t, now),
		CreatedAt:      stamp(t.created),
		LastUpdatedAt:  stamp(t.updated(now)),
		TTLMs:          t.ttl.Milliseconds(),
		PollIntervalMs: t.poll.Milliseconds(),
	}
	if v.Status == statusCompleted {
		// Clients refuse an inlined result without a resultType of its own.
		r := s.computed(t.label).complete()
		v.Result = &r
	}
	return v
}

func (s *Server) coreView(t task, now time.Time) coreTask {
	return coreTask{
		TaskID:        t.id,
		Status:        t.status(now),
		StatusMessage: s.statusMessage(t, now),
		CreatedAt:     stamp(t.created),
		LastUpdatedAt: stamp(t.updated(now)),
		TTL:           t.ttl.Milliseconds(),
		PollInterval:  t.poll.Milliseconds(),
	}
}

func (s *Server) statusMessage(t task, now time.Time) string {
	if t.status(now) == statusWorking {
		return s.Name + " is computing"
	}
	return ""
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
