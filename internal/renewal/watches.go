package renewal

import (
	"maps"
	"slices"
	"time"
)

// Watches are records of one kind, by the names of their writers. The zero value has looked at none. It is one goroutine's at a time.
type Watches struct{ all map[string]*named }

// named is one of them. It may have been lost and begun anew meanwhile, and be at the same version: then it says something else.
type named struct {
	Watch
	says string
}

// Stood is Watch.Stood of the record of that name, which says this.
func (w *Watches) Stood(name string, version uint64, says string, gap time.Duration) time.Duration {
	one := w.all[name]
	if one == nil || one.says != says {
		if w.all == nil {
			w.all = map[string]*named{}
		}
		one = &named{says: says}
		w.all[name] = one
	}
	return one.Watch.Stood(version, gap)
}

// Forget has what was seen of a record not count.
func (w *Watches) Forget(name string) { delete(w.all, name) }

// ForgetAll is Forget of each.
func (w *Watches) ForgetAll() { clear(w.all) }

// Keep forgets all but these.
func (w *Watches) Keep(names []string) {
	maps.DeleteFunc(w.all, func(name string, _ *named) bool { return !slices.Contains(names, name) })
}
