package routing

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"berth/internal/mcp"
)

// Transport is how an upstream is spoken to.
type Transport uint8

// StreamableHTTP is the transport of all upstreams so far.
const StreamableHTTP Transport = 0

// What is kept of what an upstream says of itself.
const (
	maxVersions = 32
	maxServer   = 200 // bytes
)

// Profile is what an upstream has shown of itself, as last learned. It does not change. All
// of it is forgotten with the end of a silence: another server may stand there by now.
type Profile struct {
	Transport Transport
	Speaks    [2]bool     // by mcp.Era: it has served work of the era, and refused none since
	Versions  [2][]string // by mcp.Era: protocol versions that it has named last; nil: none, or too many
	Server    string      // its name and version, as it gave them last; "": it has not

	// Legacy says that it has refused the modern era, and opened a session of the legacy one.
	Legacy bool

	foreign [2]time.Time // by mcp.Era: until when it is taken for one that does not speak it
}

// isForeign reports whether the upstream is taken for one that does not speak an era.
func (f *Profile) isForeign(era mcp.Era) bool {
	until := f.foreign[era]
	return !until.IsZero() && time.Now().Before(until)
}

// Profile returns what is known of the upstream.
func (u *Upstream) Profile() *Profile {
	return cmp.Or(u.profile.Load(), unknown)
}

var unknown = new(Profile)

// Declares notes what the upstream says of itself to a client of an era.
func (u *Upstream) Declares(era mcp.Era, says mcp.Offer) {
	versions, server := says.Versions, says.Server
	if len(versions) > maxVersions {
		versions = nil
	}
	known := u.Profile()
	if server == "" || len(server) > maxServer {
		server = known.Server // the modern era lets servers leave it out
	}
	if slices.Equal(known.Versions[era], versions) && known.Server == server {
		return
	}
	u.learn(func(f *Profile) {
		f.Versions[era] = slices.Clone(versions)
		f.Server = strings.Clone(server)
	})
}

// Spoken is what an operator says that an upstream speaks.
type Spoken uint8

const (
	SpokenUnsaid Spoken = iota // berth finds out
	SpokenModern
	SpokenLegacy
)

// SpeaksModern reports whether the upstream takes requests of the modern era itself, as far as
// that is known.
func (u *Upstream) SpeaksModern() (speaks, known bool) {
	f := u.Profile()
	switch {
	case u.Era != SpokenUnsaid:
		return u.Era == SpokenModern, true
	case f.Legacy:
		return false, true
	}
	return f.Speaks[mcp.EraModern], f.Speaks[mcp.EraModern]
}

// NoteLegacy notes that the upstream has refused the modern era and opened a session of the legacy
// one, or has contradicted that since.
func (u *Upstream) NoteLegacy(is bool) {
	if u.Profile().Legacy != is {
		u.learn(func(f *Profile) { f.Legacy = is })
	}
}

// learn makes the next profile.
func (u *Upstream) learn(change func(f *Profile)) {
	for {
		known := u.profile.Load()
		next := *cmp.Or(known, unknown)
		change(&next)
		if u.profile.CompareAndSwap(known, &next) {
			return
		}
	}
}
