package stdio

import "time"

// peers are the processes of a Server, those that end included.
type peers map[*peer]struct{}

// standing returns the process with this key that new sessions had best be in: one that answers, with the fewest sessions; nil: there
// is none.
func (all peers) standing(key string, now time.Time) (best *peer) {
	if key == "" {
		return nil
	}
	for p := range all {
		if p.key != key || p.stopping || p.over || p.isOld(now) {
			continue
		}
		if best == nil || best.silent && !p.silent || best.silent == p.silent && load(p) < load(best) {
			best = p
		}
	}
	return best
}

// of counts the processes of a caller.
func (all peers) of(caller string) (n int) {
	for p := range all {
		if p.caller == caller {
			n++
		}
	}
	return n
}
