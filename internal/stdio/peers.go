package stdio

import "time"

// peers are the processes of a Server, those that end included.
type peers map[*peer]struct{}

// standing returns the process with this key that new sessions had best be in: one that answers, in which no call was left that keeps them
// out, with the fewest sessions; nil: there is none. One that nobody uses, and in which such a call was left, is not.
func (all peers) standing(key string, now time.Time) (best *peer) {
	if key == "" {
		return nil
	}
	for p := range all {
		if p.key != key || p.stopping || p.over || p.isOld(now) || load(p) == 0 && p.left.keepsOut() {
			continue
		}
		if best == nil || isBetter(p, best) {
			best = p
		}
	}
	return best
}

// isBetter reports whether new sessions had better be in a process than in another one.
func isBetter(p, other *peer) bool {
	keptOut := p.left.keepsOut()
	switch {
	case p.silent != other.silent:
		return other.silent
	case keptOut != other.left.keepsOut():
		return !keptOut
	}
	return load(p) < load(other)
}

// of counts the processes of a caller, and those with this key.
func (all peers) of(caller, key string) (n int) {
	for p := range all {
		if p.caller == caller || p.key == key {
			n++
		}
	}
	return n
}
