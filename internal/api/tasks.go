package api

import (
	"encoding/json"
	"time"
)

// Tally counts tasks.
type Tally struct {
	ByState map[string]int `json:"by_state"`       // see Task.State
	Oldest  map[string]Age `json:"oldest"`         // that has not ended, by state
	AsOf    time.Time      `json:"as_of,omitzero"` // none: no task could be read
}

// Age is a task, and when it was made.
type Age struct {
	ID   string    `json:"id"`
	Pool string    `json:"pool"`
	Made time.Time `json:"made"`
}

// Tasks is the answer to GET /v1/tasks?pool=&upstream=&holder=&caller=&tool=&state=&kind=&older=&id=
// (older: an age such as 5m; tool: a glob; state: several by commas; id: one that is known whole). The
// oldest comes first.
type Tasks struct {
	Page
	Tasks []Task    `json:"tasks"`
	Tally Tally     `json:"tally"` // of all that match, on all pages
	AsOf  time.Time `json:"as_of"`
}

// Task is one task in a list.
type Task struct {
	ID   string `json:"id"`
	Pool string `json:"pool"`
	// Kind is "server" of a task that an instance made, "upgraded" of one of berth's own.
	Kind string `json:"kind"`
	Tool string `json:"tool,omitempty"`
	// State is "queued", "accepted", "dispatched", "input_required", "completed", "failed" or
	// "cancelled" of an upgraded task; "working", "input_required" or an end of a server's, when berth
	// last saw it, and "unknown" if it did not.
	State    string    `json:"state"`
	Upstream string    `json:"upstream,omitempty"` // its owner; of an upgraded one, where its call is or was last
	Holder   string    `json:"holder,omitempty"`   // name of the berth that keeps its call
	Caller   string    `json:"caller,omitempty"`   // digest of the principal; "": nobody
	Session  string    `json:"session,omitempty"`  // digest
	Dialect  string    `json:"dialect,omitempty"`  // "extension", "core", "draft"
	Made     time.Time `json:"made,omitzero"`
	Updated  time.Time `json:"updated,omitzero"`
	Expires  time.Time `json:"expires,omitzero"`
	Queue    string    `json:"queue,omitempty"`   // that it waits in; see Queue.ID
	Place    int       `json:"place,omitempty"`   // in its line there, from 1
	Message  string    `json:"message,omitempty"` // why it ended; with payloads also what its server says
}

// TaskDetail is the answer to GET /v1/tasks/{id}[?pool=].
type TaskDetail struct {
	Task
	Timeline []Moment `json:"timeline"`
	Attempts int      `json:"attempts"`           // how often its call was sent
	Polls    int64    `json:"polls"`              // that this berth answered
	Polled   Polled   `json:"polled,omitzero"`    // the last of them
	Size     int64    `json:"size,omitempty"`     // bytes kept beside the record
	Follows  string   `json:"follows,omitempty"`  // the task that the upstream made of its call
	RerunAs  string   `json:"rerun_as,omitempty"` // the task that its call was made again as
	// May are the orders that would be heard now: "cancel", "rerun".
	May      []string  `json:"may"`
	MayNot   string    `json:"may_not,omitempty"` // why an order that one would expect is missing
	Payloads *Payloads `json:"payloads,omitempty"`
}

// Polled is a poll.
type Polled struct {
	At time.Time `json:"at"`
}

// Moment is one step of a task's life.
type Moment struct {
	At time.Time `json:"at,omitzero"` // none: nobody knows
	// What is "made", "queued", "sent", "asked", "answered", "moot" (nobody waits for the answer any more), "adopted" (another berth took it over),
	// "handed_over", "ended", "rerun" (its call was made again as another task, which Detail names).
	What     string `json:"what"`
	Upstream string `json:"upstream,omitempty"`
	Holder   string `json:"holder,omitempty"`
	Detail   string `json:"detail,omitempty"`
}

// Payloads are told with `[admin] payloads = true` alone.
type Payloads struct {
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Outcome   json.RawMessage `json:"outcome,omitempty"`
	Asks      json.RawMessage `json:"asks,omitempty"`
}

// TaskOrder is the body of orders about a task: {} for one of any pool.
type TaskOrder struct {
	Pool string `json:"pool,omitempty"`
}

// POST /v1/tasks/{id}/cancel answers with the TaskDetail as it is then: 404 not_found, 409 ended,
// 409 not_cancellable (a server's own, of a dialect in which its client's session alone may),
// 409 not_cancelled (the server refuses, or wants credentials that berth has not), 503 upstream_unavailable,
// 503 store_unavailable.
//
// POST /v1/tasks/{id}/rerun answers with the TaskDetail of the task that the call is made again as: an end that
// a client was told of never changes. 404 not_found, 409 not_rerunnable (the rule does not say
// on_orphan = "rerun", the task has not failed, was made again, or its call is not kept), 409 too_many,
// 503 draining, 503 store_unavailable.

// Sessions is the answer to GET /v1/sessions?pool=&upstream=&caller=.
type Sessions struct {
	Page
	Sessions []Session `json:"sessions"`
	AsOf     time.Time `json:"as_of"`
}

// Session is one session of a client.
type Session struct {
	ID       string    `json:"id"` // digest, as access records have it
	Pool     string    `json:"pool"`
	Upstream string    `json:"upstream"`
	Caller   string    `json:"caller,omitempty"`
	Version  string    `json:"version,omitempty"` // of the protocol
	Made     time.Time `json:"made,omitzero"`
	Expires  time.Time `json:"expires,omitzero"` // if it is not used until then
	Movable  bool      `json:"movable"`          // can be opened anew at another upstream
	Moved    string    `json:"moved,omitempty"`  // from which upstream it was
}

// Subscriptions is the answer to GET /v1/subscriptions: those at the berth that answers.
type Subscriptions struct {
	Page
	Subscriptions []Subscription `json:"subscriptions"`
}

// Subscription is one stream of a client.
type Subscription struct {
	ID     string    `json:"id"` // at this berth, as long as the stream stands
	Pool   string    `json:"pool"`
	Kind   string    `json:"kind"` // "listen" (2026-07-28), "session" (a session's GET stream)
	Caller string    `json:"caller,omitempty"`
	Since  time.Time `json:"since"`
	Tasks  int       `json:"tasks"`  // that it names
	Legs   []string  `json:"legs"`   // upstreams that it hears
	Events int64     `json:"events"` // sent so far
}

// Queues is the answer to GET /v1/queues.
type Queues struct {
	Queues []Queue `json:"queues"`
}

// PauseOrder is the body of POST /v1/queues/{id}/pause; that of …/resume is {}.
type PauseOrder struct {
	By string `json:"by,omitempty"` // who pauses it, for others to read; "operator" unless told
}

// Queue is the line of a rule with `concurrency`. POST /v1/queues/{id}/pause and /resume answer with it;
// a pause is shared by all berths and survives them: nothing new is sent, what runs goes on, new calls join.
type Queue struct {
	ID       string    `json:"id"`   // in paths
	Pool     string    `json:"pool"` // "": of all pools
	Rule     string    `json:"rule"` // tools of the rule; "": no rule in force has it, and it is paused, or calls of this berth wait in it
	Waiting  int       `json:"waiting"`
	Running  int       `json:"running"`
	Places   int       `json:"places"` // per upstream, by the rule in force; 0: none has it any more, and each call goes by the one that it was made by
	Oldest   time.Time `json:"oldest,omitzero"`
	Paused   bool      `json:"paused"`
	PausedBy string    `json:"paused_by,omitempty"`
	Since    time.Time `json:"since,omitzero"` // of the pause
}
