// Package profile keeps what an upstream has shown of itself: which eras and versions it speaks, and what it calls itself.
package profile

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"berth/internal/mcp"
	"berth/internal/mcp/offer"
)

// What is kept of what an upstream says of itself.
const (
	maxVersions = 32
	maxServer   = 200 // bytes
)

// Profile is what an upstream has shown of itself, as last learned. It does not change. All
// of it is forgotten with the end of a silence: another server may stand there by now.
type Profile struct {
	Speaks   [2]bool     // by mcp.Era: it has served work of the era, and refused none since
	Versions [2][]string // by mcp.Era: protocol versions that it has named last; nil: none, or too many
	Server   string      // its name and version, as it gave them last; "": it has not

	// Legacy says that it has refused the modern era, and opened a session of the legacy one.
	Legacy bool

	Sessions Sessions // in the legacy era

	foreign [2]time.Time // by mcp.Era: until when it is taken for one that does not speak it
}

// IsForeign reports whether the upstream is taken for one that does not speak an era.
func (f *Profile) IsForeign(era mcp.Era) bool {
	until := f.foreign[era]
	return !until.IsZero() && time.Now().Before(until)
}

// Record is the profile of one upstream as it stands. The zero value is that of one of which nothing is known.
type Record struct {
	now atomic.Pointer[Profile] // nil: nothing is known
}

// Profile returns what is known of the upstream.
func (r *Record) Profile() *Profile {
	return cmp.Or(r.now.Load(), unknown)
}

// Forget forgets all of it.
func (r *Record) Forget() { r.now.Store(nil) }

var unknown = new(Profile)

// Declares notes what the upstream says of itself to a client of an era. One that names versions of the legacy era alone to a modern
// client does not serve that era, whatever it did before.
func (r *Record) Declares(era mcp.Era, says offer.Offer) {
	versions, server := says.Versions, says.Server
	if len(versions) > maxVersions {
		versions = nil
	}
	known := r.Profile()
	if server == "" || len(server) > maxServer {
		server = known.Server // the modern era lets servers leave it out
	}
	ends := era == mcp.EraModern && known.Speaks[era] && says.IsLegacyAlone()
	if slices.Equal(known.Versions[era], versions) && known.Server == server && !ends {
		return
	}
	r.learn(func(f *Profile) {
		f.Speaks[era] = f.Speaks[era] && !ends
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

// SpeaksModern reports whether the upstream, of which said is said, takes requests of the modern era itself, as far as
// that is known.
func (r *Record) SpeaksModern(said Spoken) (speaks, known bool) {
	f := r.Profile()
	switch {
	case said != SpokenUnsaid:
		return said == SpokenModern, true
	case f.Legacy:
		return false, true
	}
	return f.Speaks[mcp.EraModern], f.Speaks[mcp.EraModern]
}

// NoteLegacy notes that the upstream has refused the modern era and opened a session of the legacy
// one, or has contradicted that since.
func (r *Record) NoteLegacy(is bool) {
	if r.Profile().Legacy != is {
		r.learn(func(f *Profile) {
			f.Legacy = is
			f.Speaks[mcp.EraModern] = f.Speaks[mcp.EraModern] && !is
		})
	}
}

// Serves notes that the upstream has served work of an era, and reports whether that is news.
func (r *Record) Serves(era mcp.Era) (news bool) {
	f := r.Profile()
	if news = !f.Speaks[era] || !f.foreign[era].IsZero(); news {
		r.learn(func(f *Profile) { f.Speaks[era], f.foreign[era] = true, time.Time{} })
	}
	return news
}

// Refuses notes that the upstream is taken until then for one that does not speak an era, and reports whether that is news.
func (r *Record) Refuses(era mcp.Era, until time.Time) (news bool) {
	news = r.Profile().foreign[era].IsZero()
	r.learn(func(f *Profile) { f.Speaks[era], f.foreign[era] = false, until })
	return news
}

// learn makes the next profile.
func (r *Record) learn(change func(f *Profile)) {
	for {
		known := r.now.Load()
		next := *cmp.Or(known, unknown)
		change(&next)
		if r.now.CompareAndSwap(known, &next) {
			return
		}
	}
}
