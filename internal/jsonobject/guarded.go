package jsonobject

import (
	"strings"

	"berth/internal/jsonscan"
)

// Set is a member that is known by its name, or a set of them, a bit for each.
type Set uint64

// Guarded are names from which no other in their object may differ only in case.
type Guarded struct {
	names   []string
	known   *jsonscan.Names
	set     Set    // known ones that differ from none of them: those of them, or all where there are none
	lengths uint64 // a bit for each length that one of them has
}

// unguarded is for objects in which no name matters more than others, and none is known.
var unguarded Guarded

// Guard guards names in objects whose members are known by these numbers, each of which is a Set of one.
func Guard(known *jsonscan.Names, names ...string) Guarded {
	g := guard(names)
	g.known = known
	if len(names) == 0 {
		g.set = ^Set(0)
	}
	for _, name := range names {
		g.set |= Set(known.Of([]byte(name)))
	}
	return g
}

// guard guards names in objects of which no member is known.
func guard(names []string) Guarded {
	g := Guarded{names: names}
	for _, name := range names {
		g.lengths |= lengthBit(len(name))
	}
	return g
}

func lengthBit(n int) uint64 { return 1 << min(n, 63) }

// differs reports whether name is one of them but for its case. Only a name with letters beyond ASCII, which is not plain,
// can have another length than what it folds to.
func (g *Guarded) differs(name []byte, plain bool) bool {
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
