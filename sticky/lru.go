package sticky

import "hash/maphash"

// lru holds so many bindings, those that were read or written last. A look-up touches one line of the index and the node
// that it names; a node is used again for the next binding, so that the one allocation of a new one is its text.
//
// One that is found goes to the front only once as many others came there as an eighth of them all: what is forgotten is
// still among the least used, and a look-up seldom touches its neighbours.
type lru struct {
	seed  maphash.Seed
	most  int
	pages []*[pageSize]node // nodes by number
	index []slot            // open addressing: by hash, or in one of the slots behind that
	used  int
	free  int32 // the first of the nodes without a binding, each of which names the next as older; 0: none
	turn  uint32
}

// node is a binding and what is bound. Node 0 is none: the ends of the list.
type node struct {
	kept
	kind         Kind
	pool         string
	principal    uint16 // the length of the key's principal, with which text begins; its id follows
	hash         uint32
	turn         uint32 // of the list when the node came to its front
	newer, older int32
}

type slot struct {
	hash uint32
	at   int32 // a node; 0: none
}

const (
	pageSize   = 256
	firstIndex = 16
)

func newLRU(most int) *lru {
	return &lru{seed: maphash.MakeSeed(), most: most, pages: []*[pageSize]node{new([pageSize]node)}, index: make([]slot, firstIndex)}
}

func (l *lru) node(at int32) *node { return &l.pages[at/pageSize][at%pageSize] }

// hash does not tell kinds and pools apart, of which there are few.
func (l *lru) hash(key *Key) uint32 {
	h := maphash.String(l.seed, key.ID)
	if key.Principal != "" {
		h ^= maphash.String(l.seed, key.Principal) * 31
	}
	return uint32(h)
}

func (n *node) is(key *Key) bool {
	p := int(n.principal)
	return n.text[p:n.begins] == key.ID && n.text[:p] == key.Principal && n.kind == key.Kind && n.pool == key.Pool
}

// find returns the slot and the node of key, which has that hash; or the slot where it is to be, and none.
func (l *lru) find(key *Key, hash uint32) (in uint32, at int32) {
	mask := uint32(len(l.index) - 1)
	for in = hash & mask; l.index[in].at != 0; in = (in + 1) & mask {
		if s := l.index[in]; s.hash == hash && l.node(s.at).is(key) {
			return in, s.at
		}
	}
	return in, 0
}

// touch has a node be among those that were used last.
func (l *lru) touch(at int32) {
	if n := l.node(at); l.turn-n.turn > uint32(l.used/8) {
		l.unlink(n)
		l.link(at, n)
	}
}

func (l *lru) link(at int32, n *node) {
	ends := l.node(0)
	n.newer, n.older = 0, ends.older
	l.node(ends.older).newer, ends.older = at, at
	l.turn++
	n.turn = l.turn
}

func (l *lru) unlink(n *node) {
	l.node(n.newer).older, l.node(n.older).newer = n.older, n.newer
}

// add keeps a binding under key, which has none, in the place of the oldest one if it must.
func (l *lru) add(key *Key, hash uint32, binding *kept) {
	if l.used == l.most {
		oldest := l.node(0).newer
		l.remove(l.slotOf(oldest), oldest)
	}
	if 2*(l.used+1) > len(l.index) {
		l.grow()
	}
	at := l.free
	if at == 0 {
		at = int32(l.used + 1)
		if int(at)/pageSize == len(l.pages) {
			l.pages = append(l.pages, new([pageSize]node))
		}
	}
	n := l.node(at)
	if l.free == at {
		l.free = n.older
	}
	in, _ := l.find(key, hash)
	l.index[in] = slot{hash, at}
	l.used++
	n.kept, n.kind, n.pool, n.principal, n.hash = *binding, key.Kind, key.Pool, uint16(len(key.Principal)), hash
	l.link(at, n)
}

// slotOf is where a node stands in the index.
func (l *lru) slotOf(at int32) uint32 {
	mask := uint32(len(l.index) - 1)
	in := l.node(at).hash & mask
	for l.index[in].at != at {
		in = (in + 1) & mask
	}
	return in
}

// remove forgets what stands in a slot, and has those behind it that would not be found any more move up.
func (l *lru) remove(in uint32, at int32) {
	n, mask := l.node(at), uint32(len(l.index)-1)
	l.unlink(n)
	*n = node{older: l.free}
	l.free = at
	l.used--
	for next := in; ; {
		next = (next + 1) & mask
		s := l.index[next]
		if s.at == 0 {
			break
		}
		if (next-s.hash)&mask >= (next-in)&mask {
			l.index[in], in = s, next
		}
	}
	l.index[in] = slot{}
}

func (l *lru) grow() {
	before := l.index
	l.index = make([]slot, 2*len(before))
	mask := uint32(len(l.index) - 1)
	for _, s := range before {
		if s.at == 0 {
			continue
		}
		in := s.hash & mask
		for l.index[in].at != 0 {
			in = (in + 1) & mask
		}
		l.index[in] = s
	}
}
