package sessions

import "context"

// endIdle makes room for a session where as many are open as may be: the one ends that nobody has used for the longest time. It reports
// false where all are in use. The caller holds Pool.mu.
func (p *Pool) endIdle() bool {
	var oldest *Session
	for _, s := range p.shelves {
		for _, l := range s.loans {
			if l.users == 0 && !l.hasTasks() && (oldest == nil || l.idle.Before(oldest.idle)) {
				oldest = l
			}
		}
	}
	if oldest == nil {
		return false
	}
	oldest.remove()
	go oldest.End(context.Background())
	return true
}

// greediest is the caller who has more than half of the sessions that may be open, unless that is the one who asks; "": there is none.
// The caller holds Pool.mu.
func (p *Pool) greediest(asks string) string {
	has := map[string]int{}
	for _, s := range p.shelves {
		if has[s.whose] += len(s.loans); s.whose != asks && has[s.whose] > p.settings().Most/2 {
			return s.whose
		}
	}
	return ""
}
