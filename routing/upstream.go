package routing

import (
	"net/url"
	"sync/atomic"
	"time"

	"berth/internal/mcp"
	"berth/internal/mcp/offer"
	"berth/routing/health"
	"berth/routing/profile"
)

// Upstream is one MCP server instance, as a list of its pool's has it: it does not change. Its
// name outlives its connections and its address: bindings hold the name, and what berth knows
// of an instance stays with it.
type Upstream struct {
	Name        string         // unique in its pool
	URL         *url.URL       // its MCP endpoint
	Draining    bool           // gets no new work, keeps what it owns, as the list says; see IsDraining
	Era         profile.Spoken // what it is said to speak
	Weight      int            // how much of the work it is to have, against others; 0: 1
	Backup      bool           // gets new work only while no other is fit
	MaxInFlight int            // as Settings.MaxInFlight, of this one; 0: the pool's
	Hosted      bool           // berth starts it, when it is needed; see PoolOptions.Revive

	*live // of all upstreams of its name; set by the pool
}

// live is what berth knows of an upstream, whichever list it stands in.
type live struct {
	inflight atomic.Int64
	standing atomic.Int64 // of these, standing streams
	held     atomic.Int64 // of these, held calls
	waiting  atomic.Int64 // held calls of which nothing is in flight
	left     left
	drain    draining
	owned    owned
	answers  atomic.Int64 // so far, to probes as well
	pinging  atomic.Bool
	opening  atomic.Bool // a check opens a session
	health   health.Health
	profile  profile.Record
	fresh    atomic.Pointer[time.Time] // when it joined, came back or drained no more last, by the monotonic clock too; nil: it was there from the first
	room     atomic.Pointer[room]      // where work waits for it
}

// Is reports whether u and other are the same upstream, which may stand in two lists.
func (u *Upstream) Is(other *Upstream) bool {
	return u == other || u != nil && other != nil && u.live == other.live
}

// Answers returns a number that grows with each answer of the upstream's.
func (u *Upstream) Answers() int64 { return u.answers.Load() }

// Ping has ask ask the upstream for a sign of life, unless somebody does so already.
func (u *Upstream) Ping(ask func()) {
	if u.pinging.CompareAndSwap(false, true) {
		defer u.pinging.Store(false)
		ask()
	}
}

// BeginOpening reports whether a check may open a session at the upstream, where none does so already. Whoever may calls
// EndOpening once that is over.
func (u *Upstream) BeginOpening() bool { return u.opening.CompareAndSwap(false, true) }

// EndOpening ends what BeginOpening has begun.
func (u *Upstream) EndOpening() { u.opening.Store(false) }

// InFlight returns the number of leases held on the upstream.
func (u *Upstream) InFlight() int { return int(u.inflight.Load()) }

// Busy is InFlight without standing streams.
func (u *Upstream) Busy() int { return int(u.inflight.Load() - u.standing.Load()) }

// State returns what keeps unbound work from the upstream, if anything does.
func (u *Upstream) State() health.State {
	var began time.Time
	if fresh := u.fresh.Load(); fresh != nil {
		began = *fresh
	}
	return u.health.State(began)
}

// Silent reports whether the upstream was found not to answer and no probe has
// got through since.
func (u *Upstream) Silent() bool { return u.health.Silent() }

// Answering returns a channel that is closed once the upstream is not silent; it is
// closed already if it answers.
func (u *Upstream) Answering() <-chan struct{} { return u.health.Answering() }

// Refuses reports whether the upstream is silent because nobody listens at its
// address, as far as the last attempt showed.
func (u *Upstream) Refuses() bool { return u.health.Refuses() }

// DownFor returns how long the upstream has been silent, and probed in vain; 0 if
// it is not. A request that broke says nothing of the time since.
func (u *Upstream) DownFor() time.Duration { return u.health.DownFor() }

// Ejected reports whether the upstream gets no unbound work for now.
func (u *Upstream) Ejected() bool { return u.health.Ejected() }

// Profile returns what is known of what the upstream speaks, and calls itself.
func (u *Upstream) Profile() *profile.Profile { return u.profile.Profile() }

// Declares notes what the upstream says of itself to a client of an era.
func (u *Upstream) Declares(era mcp.Era, says offer.Offer) { u.profile.Declares(era, says) }

// SpeaksModern reports whether the upstream takes requests of the modern era itself, as far as
// that is known.
func (u *Upstream) SpeaksModern() (speaks, known bool) { return u.profile.SpeaksModern(u.Era) }

// NoteLegacy notes that the upstream has refused the modern era and opened a session of the legacy
// one, or has contradicted that since.
func (u *Upstream) NoteLegacy(is bool) { u.profile.NoteLegacy(is) }

// NoteSessions notes whether the upstream works in sessions of the legacy era.
func (u *Upstream) NoteSessions(s profile.Sessions) { u.profile.NoteSessions(s) }

// coldest is how much of its share an upstream has at the beginning of a slow start.
const coldest = 0.1

// warmth is how much of its share the upstream has, where a slow start takes so long.
func (l *live) warmth(slow time.Duration) float64 {
	since := l.fresh.Load()
	if since == nil {
		return 1
	}
	return min(1, max(coldest, float64(time.Since(*since))/float64(slow)))
}
