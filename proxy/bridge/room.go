package bridge

import "context"

// endIdle makes room for a session where as many are open as may be: the one ends that nobody has used for the longest time. It reports
// false where all are in use. The caller holds stock.mu.
func (f *face) endIdle() bool {
	var oldest *loan
	for _, s := range f.shelves {
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
// The caller holds stock.mu.
func (f *face) greediest(asks string) string {
	has := map[string]int{}
	for _, s := range f.shelves {
		if has[s.whose] += len(s.loans); s.whose != asks && has[s.whose] > f.b.options().Sessions/2 {
			return s.whose
		}
	}
	return ""
}
