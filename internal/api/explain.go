package api

import "time"

// Explanation is the answer to GET /v1/explain?id=[&pool=&caller=] and to POST /v1/explain, whose body is a
// Question. Nothing is sent to an upstream for it, and nothing changes.
type Explanation struct {
	Pool  string `json:"pool"`
	Kind  string `json:"kind"`            // "task", "session", "request"
	Plan  string `json:"plan,omitempty"`  // the row of the plan's table that the request is in
	Key   string `json:"key,omitempty"`   // what is looked up, as a digest
	Steps []Step `json:"steps"`           // in the order in which they decide
	Owner string `json:"owner,omitempty"` // upstream, or berth that holds it
	Why   string `json:"why"`             // in one sentence
	// Candidates are those that could be picked, for work that nobody owns.
	Candidates []Candidate `json:"candidates,omitempty"`
	Rule       string      `json:"rule,omitempty"` // of [[upgrade]] that applies
	Answer     Answer      `json:"answer"`         // what would be answered, as far as berth decides it
}

// Question is a request to be explained: POST /v1/explain. One without headers is taken as sent with those that
// its body wants.
type Question struct {
	Pool    string            `json:"pool,omitempty"`
	Path    string            `json:"path,omitempty"`
	Method  string            `json:"method,omitempty"` // of HTTP; "POST"
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
	Caller  string            `json:"caller,omitempty"` // a principal, in clear
	From    string            `json:"from,omitempty"`   // the address that it comes from, for limits of callers; "": unknown
}

// Step is one thing that was looked at.
type Step struct {
	What   string `json:"what"`   // "lru", "store", "fleet", "rule", "session", …
	Result string `json:"result"` // "found", "not found", "not asked", "unavailable", …
	Detail string `json:"detail,omitempty"`
}

// Candidate is an upstream that new work may go to.
type Candidate struct {
	Upstream string `json:"upstream"`
	State    string `json:"state"`
	Draining bool   `json:"draining"`
	Rank     int    `json:"rank"` // the lowest gets the work; -1: never
	Load     int    `json:"load"`
	Weight   int    `json:"weight"`
	Room     bool   `json:"room"`
	Why      string `json:"why,omitempty"`
}

// Answer is what berth would do.
type Answer struct {
	// Action is "forward", "answer" (berth does), "refuse", "wait" (for room), or "ask": the fleet is asked
	// first, and the rest says what is answered if all deny the id.
	Action string `json:"action"`
	Status int    `json:"status,omitempty"`
	Code   string `json:"code,omitempty"` // of a refusal: "owner_unavailable", …
	Detail string `json:"detail,omitempty"`
}

// Decisions is the answer to GET /v1/decisions?id=&pool=&outcome=&limit=: the last at the berth that answers,
// the newest first.
type Decisions struct {
	Decisions []Decision `json:"decisions"`
}

// Decision is where one request went.
type Decision struct {
	At       time.Time `json:"at"`
	Pool     string    `json:"pool"`
	Method   string    `json:"method"` // of MCP
	Name     string    `json:"name,omitempty"`
	ID       string    `json:"id,omitempty"` // of the task
	Session  string    `json:"session,omitempty"`
	Caller   string    `json:"caller,omitempty"`
	Source   string    `json:"source"` // how the owner was found: "lru", "store", "asked", "picked", …
	Upstream string    `json:"upstream,omitempty"`
	Outcome  string    `json:"outcome"`
	Status   int       `json:"status"`
	Attempts int       `json:"attempts"`
	Took     float64   `json:"took"` // seconds
}
