package binding

import "time"

// Binding says which upstream owns a task or a session.
type Binding struct {
	Upstream  string    `json:"up"`                  // the owner's name
	Principal string    `json:"principal,omitempty"` // whose it is
	Session   string    `json:"session,omitempty"`   // digest of the session that a task was made in
	Dialect   string    `json:"dialect,omitempty"`   // "core", "extension" or "draft", of a task
	Version   string    `json:"version,omitempty"`   // negotiated protocol version, of a session
	Tasks     string    `json:"tasks,omitempty"`     // whose the tasks are that a session's client was promised; see TasksOwn
	Declares  string    `json:"declares,omitempty"`  // what a session's client lets servers ask it for; "": not kept
	Status    string    `json:"status,omitempty"`    // a task's status when berth last saw it
	Expires   time.Time `json:"expires"`             // when the binding may be forgotten

	// Alias is set where the upstream knows the session under another id than the client
	// does, because it was moved: of a session, its id there; of a task, the id of the
	// session that it was made in. It is what the caller of this package makes of the id.
	Alias string `json:"alias,omitempty"`
	// Kept is how long the session's handshake is kept at least; zero: there is none.
	Kept time.Time `json:"kept,omitzero"`
	// Fixed is set of a value of an affinity that an answer has handed out, or that none
	// ever does. What was learned from use of any other yields to it.
	Fixed bool `json:"fixed,omitempty"`
	// Maker names the request that made a provisional binding: no other gives it up.
	Maker string `json:"maker,omitempty"`
	// ID, Tool and Made tell operators what is left at an upstream: of a task, its id, as
	// Options.Hide has it, and the tool that made it, if that is known; when it was bound, in Unix milliseconds, 0 for what an older
	// berth bound.
	ID   string `json:"id,omitempty"`
	Tool string `json:"tool,omitempty"`
	Made int64  `json:"made,omitempty"`
	// Origin is the span of the request that made a task, as package audit has it; "" unless it was recorded.
	Origin string `json:"origin,omitempty"`
	// Until is when the owner's list forgets it, in Unix milliseconds; 0: it stands in none.
	Until int64 `json:"until,omitempty"`
	// Former are the upstreams that a session has left while they were alive, and FormerAlias its Aliases
	// there; see Formers.
	Former      string `json:"former,omitempty"`
	FormerAlias string `json:"formeralias,omitempty"`
	// Asked is set where berth has the owner from asking the fleet, and has not seen the
	// answer that gave the id out. Such a binding yields to whoever gives it out.
	Asked bool `json:"asked,omitempty"`
}

// Values of Binding.Tasks. A session without either is one of a version without tasks, or
// one of which nobody knows any more what its client was told.
const (
	TasksOwn   = "own"   // the upstream declared tasks of its own
	TasksAdded = "added" // berth added the capability
)

// SameOwner reports whether b and other name one owner: an upstream, under one id of
// the session.
func (b Binding) SameOwner(other Binding) bool {
	return b.Upstream == other.Upstream && b.Alias == other.Alias
}

// EndedCounting reports whether what b names is known to count no more as owned.
func (b *Binding) EndedCounting() bool { return b.Made != 0 && b.Until == 0 }

// Forgotten is when what b names may be forgotten. What b says of a task stands for a while longer, for
// those who ask late; a session stands in its owner's list for longer.
func (b Binding) Forgotten() time.Time {
	if until := time.UnixMilli(b.Until); b.Until != 0 && until.Before(b.Expires) {
		return until
	}
	return b.Expires
}

// ClientMade reports whether it was the client that made the task's id, which may be one
// that a server makes as well. Such a binding yields to the server's.
func (b *Binding) ClientMade() bool { return b.Dialect == Draft }

// Provisional reports whether a task was bound before its upstream heard of it, and has
// not been told of since. Such a binding lives for minutes, and may move or be given up
// (see RebindProvisional and ReleaseProvisional). A claim is as provisional as the binding
// that it guards.
func (b *Binding) Provisional() bool { return b.ClientMade() && b.Status == "" }

// MayYield reports whether another binding may take the place of b, so that it is looked up
// in the store each time, as long as that is there.
func (b *Binding) MayYield(kind Kind) bool {
	return b.rank() < givenOut || kind == Affinity && !b.Fixed
}

// YieldsTo reports whether next takes the place of b, whichever owners they name: see rank;
// and what calls carry is worth less than what answers hand out.
func (b *Binding) YieldsTo(next Binding) bool {
	return next.Fixed && !b.Fixed || b.rank() < next.rank()
}

// rank is what a binding is worth: what a client says of an id less than what an upstream
// tells when it hears the id, and that less than an answer in which one gives it out.
func (b *Binding) rank() int {
	switch {
	case b.Provisional():
		return named
	case b.ClientMade(), b.Asked:
		return told
	}
	return givenOut
}

const (
	named = iota
	told
	givenOut
)

// Draft is the dialect whose ids clients make, as package mcp spells it.
const Draft = "draft"

// format is the version of the stored form.
const format = 1

type stored struct {
	Format int `json:"v"`
	Binding
}
