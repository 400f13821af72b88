package task

import "time"

// Rule says which tools' calls become tasks, and on what terms. It does not change once
// it is in use.
type Rule struct {
	// Pool is the name of the pool that the rule is for. Empty: every pool.
	Pool string

	// Tools name the tools, each in the manner of [Glob]. Empty: none.
	Tools []string

	// After is how long a call's answer is waited for before its client is given a task.
	// Zero: the client gets the task at once, as one that asked for it (2025-11-25) or names
	// its call does in any case; but for RefusalGrace.
	After time.Duration

	// RefusalGrace is how long the upstream has to refuse a call before its client is given
	// the task: a refusal within it is the answer, and leaves no task. Zero: none, and what
	// After does not cover fails the task.
	RefusalGrace time.Duration

	// Required refuses clients that take no task for the call, before anything is sent
	// upstream: those that did not declare the Tasks extension with -32021, those of the
	// legacy era that did not ask for a task with -32601. False: they get the plain answer.
	Required bool

	// TTL is how long a task lives from its creation, which its ttlMs or ttl says,
	// to the millisecond. It must be greater than zero.
	TTL time.Duration

	// MaxTTL is the longest life that a client may ask for (2025-11-25, where it names one).
	// Less than TTL: TTL.
	MaxTTL time.Duration

	// PollInterval is what clients are told to wait between two polls. Zero: nothing is
	// told.
	PollInterval time.Duration

	// Timeout bounds one held call, from its dispatch to the end of its answer. Zero: it
	// may last as long as its task.
	Timeout time.Duration

	// MaxResult is the largest answer of a held call that is kept, in bytes; a larger one
	// fails the task. It must be greater than zero.
	MaxResult int64

	// Concurrency is how many held calls of this rule one upstream is given at once; the
	// others queue. Zero: any number.
	Concurrency int

	// OnOrphan says what becomes of a task whose holder died after its call was sent.
	OnOrphan OrphanPolicy

	// OnStoreDown says what becomes of a call whose task the store does not take. It does
	// not count for clients that asked for the task (2025-11-25): they are refused.
	OnStoreDown StorePolicy

	// LivePerPrincipal is how many tasks a principal may have in a pool that have not
	// ended, by whatever rule, for this one to make another. It does not count for callers
	// without a principal. Zero: any number.
	LivePerPrincipal int

	// LivePerProcess is how many calls one berth may hold, by whatever rule, for this one
	// to make another task, and one caller half of them. Zero: any number.
	LivePerProcess int

	// Webhooks are who is told how a task fares. It is shared with the records of tasks, and must
	// not be changed.
	Webhooks []Webhook
}

// matches reports whether the rule is for calls of tool in pool.
func (r *Rule) matches(pool, tool string) bool {
	if !r.isFor(pool) {
		return false
	}
	for _, glob := range r.Tools {
		if Glob(glob).Match(tool) {
			return true
		}
	}
	return false
}

func (r *Rule) isFor(pool string) bool { return r.Pool == "" || r.Pool == pool }

// Rules are an operator's rules, in the order in which they count. The zero value
// upgrades nothing.
type Rules []Rule

// For returns the first rule that is for calls of tool in pool, nil if there is none.
// The rule is shared: it must not be changed.
func (r Rules) For(pool, tool string) *Rule {
	for i := range r {
		if r[i].matches(pool, tool) {
			return &r[i]
		}
	}
	return nil
}

// In reports whether any rule is for pool, whatever the tool.
func (r Rules) In(pool string) bool {
	for i := range r {
		if r[i].isFor(pool) && len(r[i].Tools) > 0 {
			return true
		}
	}
	return false
}

// OrphanPolicy says what becomes of a task whose holder died after its call was sent.
type OrphanPolicy string

const (
	// OrphanFail ends the task as failed and says that the tool may have run. It is the
	// zero value's meaning too.
	OrphanFail OrphanPolicy = "fail"
	// OrphanRerun sends the call again: for tools that may run twice.
	OrphanRerun OrphanPolicy = "rerun"
)

// StorePolicy says what becomes of a call whose task cannot be recorded because the
// store does not take it. Nothing was sent upstream by then.
type StorePolicy string

const (
	// StoreSync leaves the call a plain one. It is the zero value's meaning too.
	StoreSync StorePolicy = "sync"
	// StoreRefuse refuses the call before the tool runs.
	StoreRefuse StorePolicy = "refuse"
)
