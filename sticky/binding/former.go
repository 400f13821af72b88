package binding

import "strings"

// Location is a session at an upstream.
type Location struct{ Upstream, Alias string }

// maxFormers bounds what a binding tells of where its session was.
const maxFormers = 8

// Formers are where a session was and may still have calls, the last place first: what is asked there is
// answered there.
func (b *Binding) Formers() []Location {
	if b.Former == "" {
		return nil
	}
	names, aliases := strings.Split(b.Former, " "), strings.Split(b.FormerAlias, " ")
	places := make([]Location, min(len(names), len(aliases)))
	for i := range places {
		places[i] = Location{names[i], aliases[i]}
	}
	return places
}

// SetFormers has Formers return these places, or the first of them. Neither names of upstreams nor aliases have
// blanks in them.
func (b *Binding) SetFormers(places []Location) {
	var names, aliases []string
	for _, p := range places[:min(len(places), maxFormers)] {
		names, aliases = append(names, p.Upstream), append(aliases, p.Alias)
	}
	b.Former, b.FormerAlias = strings.Join(names, " "), strings.Join(aliases, " ")
}
