package sessions

import (
	"context"

	"berth/proxy/resident"
)

// endIdle makes room for a session where as many are open as may be: the one ends that nobody has used for the longest time; one whose tasks
// have been told of where there is no other. It reports false where all are in use. The caller holds Registry.mu.
func (reg *Registry) endIdle() bool {
	oldest := reg.oldestIdle(keptTasks.any)
	if oldest == nil {
		oldest = reg.oldestIdle(keptTasks.untold)
	}
	if oldest == nil {
		return false
	}
	oldest.remove()
	go oldest.End(context.Background())
	return true
}

// oldestIdle returns, of the sessions that are not used, and not needed, the one that nobody has used for the longest time; nil: there is none.
// The caller holds Registry.mu.
func (reg *Registry) oldestIdle(needed func(keptTasks) bool) (oldest *Session) {
	for _, s := range reg.shelves {
		for _, l := range s.loans {
			if l.users == 0 && !l.parked && !needed(l.tasks) && (oldest == nil || l.idle.Before(oldest.idle)) {
				oldest = l
			}
		}
	}
	return oldest
}

// park makes room where that fails: of a caller's, the session counts no more that nobody has used for the longest time of those that tasks
// alone live in. It takes no new call, and ends with them. There are no more of such than others. A process counts for as long as it runs.
// The caller holds Registry.mu.
func (reg *Registry) park(whose string) bool {
	var oldest *Session
	for _, s := range reg.shelves {
		for _, l := range s.loans {
			if s.whose == whose && l.users == 0 && !l.parked && !resident.Is(l.At.URL) && (oldest == nil || l.idle.Before(oldest.idle)) {
				oldest = l
			}
		}
	}
	if whose == "" || oldest == nil || reg.parked >= reg.settings().Most {
		return false
	}
	oldest.parked, oldest.leaves = true, true
	reg.open--
	reg.parked++
	return true
}

// greediest is, of the callers who have more than half of the sessions that may be open, parked ones among them, the one with most that
// count, unless that is the one who asks; "": there is none. The caller holds Registry.mu.
func (reg *Registry) greediest(asks string) (whose string) {
	has, count := map[string]int{}, map[string]int{}
	for _, s := range reg.shelves {
		has[s.whose] += len(s.loans)
		for _, l := range s.loans {
			if !l.parked {
				count[s.whose]++
			}
		}
	}
	most := 0
	for caller, n := range has {
		if caller != asks && n > reg.settings().Most/2 && count[caller] > most {
			whose, most = caller, count[caller]
		}
	}
	return whose
}
