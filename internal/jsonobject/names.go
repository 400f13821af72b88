package jsonobject

// names is a stack of names, of which the first cost no memory of their own.
type names struct {
	few   [12][]byte
	more  [][]byte // those that come after
	count int      // how many count; the others are forgotten
}

func (n *names) add(name []byte) {
	if n.count < len(n.few) {
		n.few[n.count] = name
	} else {
		n.more = append(n.more[:n.count-len(n.few)], name)
	}
	n.count++
}

// haveSince reports whether name is one of those that were added from first on.
func (n *names) haveSince(first int, name []byte) bool {
	for i := first; i < min(n.count, len(n.few)); i++ {
		if string(n.few[i]) == string(name) {
			return true
		}
	}
	for i := max(first, len(n.few)); i < n.count; i++ {
		if string(n.more[i-len(n.few)]) == string(name) {
			return true
		}
	}
	return false
}
