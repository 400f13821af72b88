package api

import "time"

// Status is the answer to GET /v1/status: the whole at one glance.
type Status struct {
	Now      time.Time `json:"now"`
	Berth    Berth     `json:"berth"` // the one that answers
	Ready    bool      `json:"ready"`
	NotReady []string  `json:"not_ready,omitempty"` // why, one line each
	Store    Store     `json:"store"`
	Pools    []Pool    `json:"pools"`
	Berths   []Berth   `json:"berths"` // all that were alive in the last 15 minutes, this one first
	Tasks    Tally     `json:"tasks"`  // that have not ended, and upgraded ones that are kept
	Troubles []Trouble `json:"troubles"`
	// Partial says what could not be read, so that the rest is what this berth knows by itself, or that the store takes no writes and
	// so lacks what was made since; "": neither.
	Partial string `json:"partial,omitempty"`
}

// Store is what keeps bindings and tasks.
type Store struct {
	Kind      string    `json:"kind"` // "memory", "file" or "redis"
	Address   string    `json:"address,omitempty"`
	Available bool      `json:"available"`
	Since     time.Time `json:"since,omitzero"` // of that, as far as this berth knows
	Reason    string    `json:"reason,omitempty"`
	// NoWrites says why it takes no writes though it is available, as berth_store_errors_total has it: "oom", "readonly",
	// "unreplicated", "disk", "auth"; "": it takes them.
	NoWrites      string    `json:"no_writes,omitempty"`
	NoWritesSince time.Time `json:"no_writes_since,omitzero"` // when this berth was refused one first
}

// Berth is one process of berth, as it told in the store last.
type Berth struct {
	Name       string    `json:"name"`
	Host       string    `json:"host"` // hostname and process id: "mcp-7f:4242"
	Listen     string    `json:"listen"`
	Version    string    `json:"version"`
	Started    time.Time `json:"started"`
	State      string    `json:"state"`  // "serving", "draining", "gone" (resigned), or "dead" (silent past its lease)
	Told       time.Time `json:"told"`   // when it was heard of last
	Lease      float64   `json:"lease"`  // seconds that its word is good for; 0: it is over
	Config     string    `json:"config"` // digest of its configuration; berths with another one disagree
	ConfigRead time.Time `json:"config_read"`
	Ready      bool      `json:"ready"`
	Requests   int       `json:"requests"` // under way
	Streams    int       `json:"streams"`
	Held       int       `json:"held"` // calls that it keeps
	Sees       []Sight   `json:"sees,omitempty"`
	Troubles   []Trouble `json:"troubles"`
}

// Berths is the answer to GET /v1/berths: this one first.
type Berths struct {
	Berths  []Berth `json:"berths"`
	Partial string  `json:"partial,omitempty"` // as in Status
}

// Sight is how one berth sees one upstream.
type Sight struct {
	Pool     string    `json:"pool"`
	Upstream string    `json:"upstream"`
	State    string    `json:"state"` // "ok", "silent", "unchecked", "failing", "ejected"
	Reason   string    `json:"reason,omitempty"`
	Since    time.Time `json:"since,omitzero"`
	InFlight int       `json:"in_flight"`
}

// Pools is the answer to GET /v1/pools.
type Pools struct {
	Pools   []Pool `json:"pools"`
	Partial string `json:"partial,omitempty"` // as in Status
}

// Pool is one pool: GET /v1/pools/{pool}.
type Pool struct {
	Name            string     `json:"name"`
	Path            string     `json:"path"`
	Picker          string     `json:"picker"`
	SessionFailover string     `json:"session_failover"`
	Discovery       string     `json:"discovery,omitempty"` // "dns", "file", "kubernetes"
	Waiting         int        `json:"waiting"`             // calls that wait for room, at this berth
	Upstreams       []Upstream `json:"upstreams"`
}

// Upstream is one instance, with what it owns. GET /v1/upstreams has {"upstreams": […]};
// GET /v1/upstreams/{pool}/{name} one, with items. What says whether it may stop is as drain tells it.
type Upstream struct {
	MayStop

	State     string    `json:"state"` // as this berth sees it
	Reason    string    `json:"reason,omitempty"`
	Since     time.Time `json:"state_since,omitzero"`
	Disagree  bool      `json:"disagree"`         // berths see it in different states
	SeenBy    []SeenBy  `json:"seen_by"`          // each berth that is alive
	Transport string    `json:"transport"`        // "http", "sse", "stdio"
	Era       string    `json:"era,omitempty"`    // "modern", "legacy"; "": not known yet
	Versions  []string  `json:"versions"`         // of the protocol, as last learned
	Server    string    `json:"server,omitempty"` // name and version that it gives
	Weight    int       `json:"weight"`
	Backup    bool      `json:"backup"`
	InFlight  int       `json:"in_flight"` // at this berth
	MaxFlight int       `json:"max_in_flight,omitempty"`
	Check     *Check    `json:"check,omitempty"`   // the last active check; none: there are none
	Partial   string    `json:"partial,omitempty"` // as in Status, of one alone
}

// SeenBy is an upstream's state at one berth.
type SeenBy struct {
	Berth  string    `json:"berth"`
	State  string    `json:"state"`
	Reason string    `json:"reason,omitempty"`
	Since  time.Time `json:"since,omitzero"`
}

// Check is the outcome of an active check.
type Check struct {
	At     time.Time `json:"at"`
	Passed bool      `json:"passed"`
	Reason string    `json:"reason,omitempty"`
	Took   float64   `json:"took"` // seconds
}

// Trouble is one of the five numbers that say that something is wrong, since the berth began: the sum
// over berths in Status, one berth's own in Berth.
type Trouble struct {
	// Kind is "orphans", "holder_lost", "unknown_ids", "refusals" or "store_outages".
	Kind   string    `json:"kind"`
	Count  int64     `json:"count"`
	Recent int64     `json:"recent"` // of the last five minutes
	Last   time.Time `json:"last,omitzero"`
}

// Event is one occurrence of a trouble, of the last 200 of its kind at the berth that answers.
type Event struct {
	At     time.Time `json:"at"`
	Pool   string    `json:"pool,omitempty"`
	ID     string    `json:"id,omitempty"`     // of a task
	What   string    `json:"what"`             // "owner_unavailable", "holder_lost", "unknown task", …
	Caller string    `json:"caller,omitempty"` // digest
	Detail string    `json:"detail,omitempty"`
}

// Events is the answer to GET /v1/troubles/{kind}: the newest first.
type Events struct {
	Events []Event `json:"events"`
}
