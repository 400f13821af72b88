package polls

import (
	"hash/maphash"
	"iter"

	"berth/sticky"
)

// lone are the polls that may be joined and are not digested yet, by task: one of each. Nearly every poll comes and goes
// here, so that it is hashed once, and costs no memory. Callers hold Shared.mu.
type lone struct{ chains [1 << 10]*Poll } // by the hash of the task

func (l *lone) chain(hash uint64) **Poll { return &l.chains[hash%uint64(len(l.chains))] }

// of returns the poll of a task, nil if there is none.
func (l *lone) of(task *sticky.Key, hash uint64) *Poll {
	p := *l.chain(hash)
	for p != nil && (p.hash != hash || p.task != *task) {
		p = p.next
	}
	return p
}

func (l *lone) add(p *Poll) {
	first := l.chain(p.hash)
	p.next, *first, p.isAlone = *first, p, true
}

// remove takes p out, if it is there.
func (l *lone) remove(p *Poll) {
	if !p.isAlone {
		return
	}
	at := l.chain(p.hash)
	for *at != p {
		at = &(*at).next
	}
	*at, p.next, p.isAlone = p.next, nil, false
}

// all are the polls. The one that is told of may be removed.
func (l *lone) all() iter.Seq[*Poll] {
	return func(yield func(*Poll) bool) {
		for _, p := range l.chains {
			for p != nil {
				next := p.next
				if !yield(p) {
					return
				}
				p = next
			}
		}
	}
}

// hashOf is equal for equal keys of tasks. The names of pools are an operator's, and short.
func hashOf(task *sticky.Key) uint64 {
	const prime = 1099511628211 // of FNV
	hash := maphash.String(seed, task.ID)
	for i := range len(task.Pool) {
		hash = hash*prime + uint64(task.Pool[i])
	}
	if task.Principal != "" {
		hash = hash*prime + maphash.String(seed, task.Principal)
	}
	return hash
}

var seed = maphash.MakeSeed()

// hashFor is hashOf the task that p asks for, which was hashed when p began; a nil p is none.
func (p *Poll) hashFor(task *sticky.Key) uint64 {
	if p == nil {
		return hashOf(task)
	}
	return p.hash
}
