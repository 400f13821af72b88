package upgrade

import (
	"berth/upgrade/ledger"
	"berth/upgrade/lending"
	"berth/upgrade/metrics"
	"berth/upgrade/quota"
	"berth/upgrade/runner"
	"berth/upgrade/task"
	"berth/upgrade/transport"
	"berth/upgrade/webhooks"
)

// What who uses Tasks needs of the packages below, where it is documented.
type (
	Rule         = task.Rule
	Rules        = task.Rules
	Glob         = task.Glob
	OrphanPolicy = task.OrphanPolicy
	StorePolicy  = task.StorePolicy

	Task        = task.Task
	State       = task.State
	Ask         = task.Ask
	Creation    = task.Creation
	Call        = task.Call
	Envelope    = task.Envelope
	Room        = task.Room
	Pairs       = task.Pairs
	Asker       = task.Asker
	Credentials = task.Credentials
	Creator     = task.Creator
	Refusal     = task.Refusal
	IDs         = task.IDs

	Destination = transport.Destination
	Transport   = transport.Transport
	Exchange    = transport.Exchange
	Message     = transport.Message
	Held        = runner.Held
	Round       = metrics.Round

	CredentialsError = transport.CredentialsError

	Webhook  = task.Webhook
	News     = task.News
	Receiver = webhooks.Receiver

	Bounds   = quota.Bounds
	OpenAsk  = ledger.OpenAsk
	Delivery = ledger.Delivery
	Watcher  = ledger.Watcher
)

// The same of policies, states and ids.
const (
	StoreSync   = task.StoreSync
	StoreRefuse = task.StoreRefuse

	Queued        = task.Queued
	Dispatched    = task.Dispatched
	InputRequired = task.InputRequired
	Completed     = task.Completed
	Failed        = task.Failed
	Cancelled     = task.Cancelled

	IDLength = task.IDLength
)

// The same of errors.
var (
	ErrTerminal    = task.ErrTerminal
	ErrSessionLost = task.ErrSessionLost
	ErrAnswered    = transport.ErrAnswered
	ErrRefused     = transport.ErrRefused
	ErrStands      = transport.ErrStands
	ErrNoReplay    = transport.ErrNoReplay
	ErrUnknown     = ledger.ErrUnknown
	ErrDraining    = ledger.ErrDraining
	ErrTooMany     = ledger.ErrTooMany
	ErrTooMuchKept = quota.ErrTooMuchKept
	ErrTooMuchLent = lending.ErrTooMuch
)

// SessionKey is task.SessionKey.
func SessionKey(pool, principal, session string) string {
	return task.SessionKey(pool, principal, session)
}

// BehindKey is task.BehindKey.
func BehindKey(session, upstreams string) string { return task.BehindKey(session, upstreams) }

// LineAt is task.LineAt.
func LineAt(queue, upstream string) string { return task.LineAt(queue, upstream) }
