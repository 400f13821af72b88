package task

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"time"

	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"
)

// Creation is a call that is to become a task.
type Creation struct {
	Rule        *Rule
	Tool        string
	Version     string // protocol version of its client
	Asker              // who makes it, and where
	Caller      string // whom the task counts for; "": Principal
	Credentials        // of the caller; they say whose the task is where there is no principal
	Prefer      string // upstream that the call had best go to; "" for any
	Call        *Call
	Origin      string // see Task.Origin

	// Declares is what the client lets servers ask it for; "": nobody knows.
	Declares inquiry.Declared

	// Withhold is how long the client may yet get something else in place of the task, from
	// its record on; 0: not at all.
	Withhold time.Duration

	// AtOnce says that the call is started as soon as it is recorded, and that its client has no handle before that.
	AtOnce bool

	// Core says that the client is of 2025-11-25, and the call's upstream as well.
	Core    bool
	Session string        // what that client calls its session, which is at Prefer; "": none
	TTL     time.Duration // how long the client wants the task to live; 0: as long as the rule says
}

// Asker is who asks for a task, and where.
type Asker struct {
	Pool      string
	Principal string

	// Envelope is what the request bears beside its body. Only Cancel needs it, for a task
	// that follows one of an upstream's; nil: that is left to expire.
	Envelope *Envelope
}

// Task is the record of the task that the call becomes, as holder makes it. name is what an upstream of the legacy era
// knows the call by.
func (c *Creation) Task(id, name, holder string, at time.Time) *Task {
	state := Accepted
	if c.Rule.Concurrency > 0 {
		state = Queued
	}
	t := &Task{
		ID: id, Pool: c.Pool, Tool: c.Tool, Version: c.Version,
		Principal: c.Principal, Upstream: c.Prefer, Declares: c.Declares, Origin: c.Origin,
		Caller: Digest(cmp.Or(c.Caller, c.Principal)), Size: c.Call.Size(),
		State: state, Created: at, Updated: at, Holder: holder, Terms: c.Rule.Terms(c.Pool),
	}
	if c.Core {
		t.Call, t.ProgressToken = name, mcp.ProgressToken(c.Call.Body)
		t.Terms.TTL = c.life()
	}
	if c.Session != "" {
		t.Session = SessionKey(c.Pool, c.Principal, c.Session)
		t.Behind = BehindKey(t.Session, c.Call.Session)
	}
	return t
}

// Anew is the task that the call of one that has failed becomes when it is made again. Its client has no
// handle of it; but nobody else is waited for, so it goes on without one.
func (t *Task) Anew(id, holder string, size int64, at time.Time) *Task {
	anew := &Task{
		ID: id, Pool: t.Pool, Tool: t.Tool, Version: t.Version, Principal: t.Principal, Creator: t.Creator, Caller: t.Caller,
		Upstream: t.Upstream, Declares: t.Declares, Size: size, State: Accepted, Created: at, Updated: at, Holder: holder, Terms: t.Terms,
		Handed: true,
	}
	if t.Terms.Slots > 0 {
		anew.State = Queued
	}
	if t.Call != "" {
		anew.Call = "berth-" + NewName(9)
	}
	return anew
}

// leastTTL is the shortest life that a task gets, however short the client wants it.
const leastTTL = time.Second

// life is how long the task lives.
func (c *Creation) life() time.Duration {
	if c.TTL == 0 {
		return c.Rule.TTL
	}
	return min(max(c.TTL, leastTTL), max(c.Rule.MaxTTL, c.Rule.TTL))
}

// Terms are what the rule says of a task.
func (r *Rule) Terms(pool string) Terms {
	terms := Terms{
		TTL: r.TTL, PollInterval: r.PollInterval, Timeout: r.Timeout, MaxResult: r.MaxResult,
		Rerun: r.OnOrphan == OrphanRerun, Unlisted: r.LivePerPrincipal <= 0, Slots: r.Concurrency, Webhooks: r.Webhooks,
	}
	if r.Concurrency > 0 {
		terms.Queue = Digest(append([]string{pool}, r.Tools...)...)
	}
	return terms
}

// Withhold has nobody be told of a new task, from its record on, before its client has the
// handle. Only who makes the same call again, or lists what a principal has made, could
// come upon it.
func (t *Task) Withhold(d time.Duration) {
	if t.Once != (Once{}) || t.Principal != "" {
		t.Withheld = t.Created.Add(d)
	}
}

// Once names a call that is made at most once, however often it comes. The zero value
// names none.
type Once struct {
	Name     string `json:"name"`     // digest of the client's key, of whose it is, and of the pool
	Question string `json:"question"` // digest of what the call asks
}

// OnceOf names the call by the key that its caller has given.
func (c *Creation) OnceOf(whose, key string) Once {
	question := sha256.Sum256(mcp.AppendQuestion(nil, c.Call.Body))
	return Once{Digest(c.Pool, whose, key), base64.RawURLEncoding.EncodeToString(question[:])}
}

// EarlierOnce is how a berth up to 0.4 named the call, the zero Once where that cannot have
// named this caller's: it took all for one who bore no Authorization.
func (c *Creation) EarlierOnce(key string) Once {
	if c.Principal != "" || c.Credentials.Authorization == "" {
		return Once{}
	}
	return c.OnceOf("authorization "+c.Credentials.Authorization, key)
}

// SessionKey names a session of a client's in the store and in Task.Session. The store
// never sees what the client calls it.
func SessionKey(pool, principal, session string) string {
	return Digest("session", pool, principal, session)
}

// BehindKey names the session of an upstream's that stands behind a client's, which
// SessionKey names. One that has moved has had several, and each upstream counts what it
// asks from the beginning.
func BehindKey(session, upstreams string) string { return Digest("behind", session, upstreams) }
