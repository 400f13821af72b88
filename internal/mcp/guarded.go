package mcp

import "strings"

// guarded are names from which no other in their object may differ only in case.
type guarded struct {
	names   []string
	set     memberSet // known ones that differ from none of them: those of them, or all where there are none
	lengths uint64    // a bit for each length that one of them has
}

func guard(names ...string) guarded {
	g := guarded{names: names}
	if len(names) == 0 {
		g.set = ^memberSet(0)
	}
	for _, name := range names {
		g.set |= memberOf([]byte(name))
		g.lengths |= lengthBit(len(name))
	}
	return g
}

func lengthBit(n int) uint64 { return 1 << min(n, 63) }

// differs reports whether name is one of them but for its case. Only a name with letters beyond ASCII, which is not plain,
// can have another length than what it folds to.
func (g *guarded) differs(name []byte, plain bool) bool {
	if plain && g.lengths&lengthBit(len(name)) == 0 {
		return false
	}
	differs := false
	for _, own := range g.names {
		if string(name) == own {
			return false
		}
		differs = differs || isAlike(name, plain, own)
	}
	return differs
}

// isAlike reports whether name is own but for its case, where it is not the same.
func isAlike(name []byte, plain bool, own string) bool {
	if len(name) < len(own) || plain && (len(name) > len(own) || name[0]|' ' != own[0]|' ') {
		return false
	}
	return strings.EqualFold(string(name), own)
}
