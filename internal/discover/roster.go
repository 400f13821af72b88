package discover

import (
	"maps"
	"slices"
	"time"
)

// Rules say how long an instance that left is kept. Berths keep one until the first of them holds.
type Rules struct {
	EmptyGrace  time.Duration // how long an answer without instances must stand until it counts
	Linger      time.Duration // nothing is held there for this long; another berth may have given it work meanwhile
	Silent      time.Duration // it has not answered for this long
	ForgetAfter time.Duration // it left this long ago
}

// Hold is what berth knows of an instance that left.
type Hold struct {
	Owned   int           // what is bound to it or under way there; below 0: nobody knows
	Counted time.Time     // when that was so
	Silent  time.Duration // how long it has not answered; 0: it does
}

// Why an instance was forgotten.
const (
	NothingHeld = "nothing is held there"
	NoAnswer    = "it does not answer any more"
	TooLong     = "it left too long ago"
)

// Changes are what became of instances, by name.
type Changes struct {
	Joined, Drains, Left, Back, Moved []string
	Forgotten                         map[string]string // and why
	over                              []Instance        // those forgotten
}

// roster is the memory of who is there and who left. It has no clock of its own, and is not safe
// for concurrent use.
type roster struct {
	rules      Rules
	known      map[string]*entry
	named      map[string]Instance // by the configuration
	emptySince time.Time           // zero: the last answer had instances, or there was none
}

type entry struct {
	Instance
	left  time.Time // zero: the source tells of it
	empty time.Time // when nothing was held there, counted first; zero: something is, or it was not counted since it left
	heard bool      // from another berth, and not from the source
	stays bool      // the configuration named it, and a source that is to say whether it is still there has not answered
}

func newRoster(rules Rules) *roster { return &roster{rules: rules, known: map[string]*entry{}} }

// take takes over a source's answer, unless it is empty and that is new.
func (r *roster) take(list []Instance, now time.Time) (c Changes) {
	if len(list) > 0 {
		r.emptySince = time.Time{}
	} else if r.emptySince.IsZero() {
		r.emptySince = now
	}
	if len(list) == 0 && now.Sub(r.emptySince) < r.rules.EmptyGrace && r.present() > 0 {
		return c
	}
	told := map[string]bool{}
	for _, instance := range list {
		told[instance.Name] = true
		r.meet(instance, &c)
	}
	for name, e := range r.known {
		if !told[name] && e.left.IsZero() {
			e.left = now
			c.Left = append(c.Left, name)
		}
	}
	return c.sorted()
}

// unsure notes that a source did not answer: what it said before is not confirmed.
func (r *roster) unsure() { r.emptySince = time.Time{} }

// confirm has an empty answer count that has stood for long enough.
func (r *roster) confirm(now time.Time) (c Changes) {
	if r.emptySince.IsZero() || r.present() == 0 {
		return c
	}
	return r.take(nil, now)
}

// meet notes that a source tells of an instance.
func (r *roster) meet(instance Instance, c *Changes) {
	switch e := r.known[instance.Name]; {
	case e == nil:
		c.Joined = append(c.Joined, instance.Name)
	case e.heard && !e.left.IsZero():
		c.Joined = append(c.Joined, instance.Name)
	case !e.left.IsZero(), e.Draining && !instance.Draining:
		c.Back = append(c.Back, instance.Name)
	case !e.Draining && instance.Draining:
		c.Drains = append(c.Drains, instance.Name)
	}
	if e := r.known[instance.Name]; e != nil && e.URL.String() != instance.URL.String() {
		c.Moved = append(c.Moved, instance.Name)
	}
	r.known[instance.Name] = &entry{Instance: instance}
}

// name has these be those that the configuration names: they have not left, and are nobody's to hear of. Those that were named before
// drain, as those do that leave a source; where a source is awaited that may tell of them, once it has answered. One that has another name
// now drains by the former one at once.
func (r *roster) name(named []Instance, awaited bool, now time.Time) (c Changes) {
	before := r.named
	r.named = map[string]Instance{}
	spots := map[string]bool{}
	for _, i := range named {
		r.named[i.Name], spots[Spot(i.URL)] = i, true
		if e := r.known[i.Name]; e != nil && (e.stays || !e.left.IsZero()) {
			delete(r.known, i.Name)
		}
	}
	for name, i := range before {
		_, is := r.named[name]
		switch e := r.known[name]; {
		case is, e != nil && e.left.IsZero(): // or the source tells of it
		case awaited:
			r.known[name] = &entry{Instance: i, stays: true}
		default:
			r.known[name] = &entry{Instance: i, left: now}
			c.Left = append(c.Left, name)
		}
	}
	for name, e := range r.known {
		if e.stays && e.left.IsZero() && spots[Spot(e.URL)] {
			e.left = now
			c.Left = append(c.Left, name)
		}
	}
	return c.sorted()
}

// knows reports whether there is an instance of this name.
func (r *roster) knows(name string) bool {
	_, named := r.named[name]
	return named || r.known[name] != nil
}

// hear notes that another berth tells of instances. Those that are news are as if they had left: they
// may own something, and are given nothing.
func (r *roster) hear(list []Instance, now time.Time) (news []string) {
	for _, instance := range list {
		if !r.knows(instance.Name) {
			r.known[instance.Name] = &entry{Instance: instance, left: now, heard: true}
			news = append(news, instance.Name)
		}
	}
	slices.Sort(news)
	return news
}

// forget drops those that left and that are not to be kept any more.
func (r *roster) forget(holds func(name string) Hold, now time.Time) (c Changes) {
	c.Forgotten = map[string]string{}
	for name, e := range r.known {
		if e.left.IsZero() {
			continue
		}
		if why := e.over(r.rules, holds(name), now); why != "" {
			c.Forgotten[name] = why
			c.over = append(c.over, e.Instance)
			delete(r.known, name)
		}
	}
	return c
}

// over says why an instance that left is not to be kept any more; "" if it is.
func (e *entry) over(rules Rules, hold Hold, now time.Time) string {
	switch {
	case hold.Owned != 0:
		e.empty = time.Time{}
	case e.empty.IsZero() && hold.Counted.After(e.left): // it was given work until it left
		e.empty = hold.Counted
	}
	switch {
	case !e.empty.IsZero() && hold.Counted.Sub(e.empty) >= rules.Linger:
		return NothingHeld
	case hold.Silent >= rules.Silent:
		return NoAnswer
	case now.Sub(e.left) >= rules.ForgetAfter:
		return TooLong
	}
	return ""
}

// part has all drain: there is no source for them any more.
func (r *roster) part(now time.Time) (c Changes) {
	for name, e := range r.known {
		if e.left.IsZero() {
			e.left = now
			c.Left = append(c.Left, name)
		}
	}
	return c.sorted()
}

// instances are those that a pool has, by name. Those that left drain.
func (r *roster) instances() []Instance {
	list := make([]Instance, 0, len(r.known))
	for _, e := range r.known {
		i := e.Instance
		i.Left = !e.left.IsZero()
		i.Draining = i.Draining || i.Left
		list = append(list, i)
	}
	slices.SortFunc(list, byName)
	return list
}

// standing are those that the configuration names, and those that the source tells of, in no order.
func (r *roster) standing() []Instance {
	list := slices.Collect(maps.Values(r.named))
	for _, e := range r.known {
		if e.left.IsZero() {
			list = append(list, e.Instance)
		}
	}
	return list
}

// leaving are the names of those that left.
func (r *roster) leaving() (names []string) {
	for name, e := range r.known {
		if !e.left.IsZero() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (r *roster) present() int { return len(r.known) - len(r.leaving()) }

func (c Changes) sorted() Changes {
	for _, names := range [][]string{c.Joined, c.Drains, c.Left, c.Back, c.Moved} {
		slices.Sort(names)
	}
	return c
}
