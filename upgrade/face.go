package upgrade

import (
	"berth/upgrade/ledger"
	"berth/upgrade/runner"
	"berth/upgrade/task"
)

// What operators' rules and the records of tasks are made of, as who uses Tasks needs it.
type (
	// Rule says which tools' calls become tasks, and on what terms.
	Rule = task.Rule
	// Rules are an operator's rules, in the order in which they count.
	Rules = task.Rules
	// Glob is a pattern for the names of tools.
	Glob = task.Glob
	// OrphanPolicy says what becomes of a task whose holder died after its call was sent.
	OrphanPolicy = task.OrphanPolicy
	// StorePolicy says what becomes of a call whose task cannot be recorded.
	StorePolicy = task.StorePolicy

	// Task is the record of an upgraded task.
	Task = task.Task
	// State is where a task stands.
	State = task.State
	// Ask is one thing that an upstream wants to know from the client.
	Ask = task.Ask

	// Creation is a call that is to become a task.
	Creation = task.Creation
	// Call is a request of a client, as it can be sent upstream.
	Call = task.Call
	// Envelope is what goes upstream around a body.
	Envelope = task.Envelope
	// Room is what of a held call's answer may be in memory.
	Room = task.Room
	// Asker is who asks for a task, and where.
	Asker = task.Asker
	// Credentials are what a caller authenticates with, as digests that nobody keeps.
	Credentials = task.Credentials
	// Creator is who made a task where there are no principals.
	Creator = task.Creator
	// Refusal says which bound keeps a caller from making a task, or from being given an outcome.
	Refusal = task.Refusal

	// Pool is where held calls are sent.
	Pool = runner.Pool
	// Transport is how held calls reach the upstreams of a pool.
	Transport = runner.Transport
	// Exchange is the answer to one round, message by message.
	Exchange = runner.Exchange
	// Message is one event of the answer to a call, or the answer as a whole.
	Message = runner.Message
	// Held is a call that this process keeps for a task.
	Held = runner.Held
	// WaitingClient is a client that still waits for the answer itself, or for a refusal in
	// place of its task.
	WaitingClient = runner.WaitingClient

	// Bounds are what the tasks of this process, and those of one caller, may keep until they
	// expire.
	Bounds = ledger.Bounds
	// OpenAsk is a request of an upstream's that its client has not answered.
	OpenAsk = ledger.OpenAsk
	// Delivery is the right to tell a client what may go down one of its streams only.
	Delivery = ledger.Delivery
	// Watcher wakes up one who waits for several tasks.
	Watcher = ledger.Watcher
)

// The policies and states, as package task has them.
const (
	OrphanFail  = task.OrphanFail
	OrphanRerun = task.OrphanRerun
	StoreSync   = task.StoreSync
	StoreRefuse = task.StoreRefuse

	Queued        = task.Queued
	Accepted      = task.Accepted
	Dispatched    = task.Dispatched
	InputRequired = task.InputRequired
	Completed     = task.Completed
	Failed        = task.Failed
	Cancelled     = task.Cancelled
)

var (
	// ErrTerminal says that the task has ended.
	ErrTerminal = task.ErrTerminal
	// ErrSessionLost says that the upstream does not know the session of a call any more,
	// so that it did nothing.
	ErrSessionLost = task.ErrSessionLost
	// ErrAnswered is what Send or Next fails with where the client was given the answer
	// itself: there is no task then.
	ErrAnswered = runner.ErrAnswered
	// ErrRefused is ErrAnswered where the answer says that the upstream has not taken the call
	// on.
	ErrRefused = runner.ErrRefused
	// ErrStands says that the upstream takes a connection for standing on which the stream
	// went before.
	ErrStands = runner.ErrStands
	// ErrNoReplay says that a stream cannot be resumed, and why does not matter.
	ErrNoReplay = runner.ErrNoReplay
	// ErrUnknown says that there is no such task for who asks.
	ErrUnknown = ledger.ErrUnknown
	// ErrDraining says that this berth takes on no more tasks.
	ErrDraining = ledger.ErrDraining
	// ErrTooMany says that a principal, or this process, has as many live tasks as the
	// rule allows.
	ErrTooMany = ledger.ErrTooMany
	// ErrTooMuchKept says that a caller, or this process, keeps as much of tasks as it may.
	ErrTooMuchKept = ledger.ErrTooMuchKept
)

// IDLength is the length of the ids of tasks, in bytes.
const IDLength = task.IDLength

// SessionKey names a session of a client's in the store and in Task.Session. The store
// never sees what the client calls it.
func SessionKey(pool, principal, session string) string {
	return task.SessionKey(pool, principal, session)
}

// BehindKey names the session of an upstream's that stands behind a client's, which
// SessionKey names.
func BehindKey(session, upstreams string) string { return task.BehindKey(session, upstreams) }
