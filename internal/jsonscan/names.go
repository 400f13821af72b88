package jsonscan

import "encoding/binary"

// Names are names of members that somebody knows, each by a number of his own, which is not 0. They have two bytes at least,
// and are plain.
type Names struct {
	begin [1 << 8]*known // by the first four bytes in a text: of short names, a quote and a colon are among them
}

// known is how a name stands in nearly all texts: in quotes, with its colon, and behind a byte that is looked at by itself.
type known struct {
	first, mask uint64 // the eight bytes from that one on, or as many as there are
	rest        string // what follows them
	size        int    // of all
	number      uint64
	next        *known // that begins in the same place
	name        string
}

// Add adds a name. Of those that begin alike, what is usual comes first.
func (n *Names) Add(name string, number uint64) {
	text := `."` + name + `":`
	k := &known{size: len(text), number: number, name: name}
	var first [8]byte
	at := copy(first[:], text)
	k.rest, k.mask = text[at:], ^uint64(0)>>(64-8*at)&^0xff
	k.first = binary.LittleEndian.Uint64(first[:]) & k.mask
	last := &n.begin[placeOf(uint32(k.first>>16))]
	for *last != nil {
		last = &(*last).next
	}
	*last = k
}

// placeOf spreads the names of a protocol well.
func placeOf(four uint32) uint8 { return uint8(four * 0x9e3779b1 >> 24) }

// Of is the number of a name, 0 of one that is not known.
func (n *Names) Of(name []byte) uint64 {
	var four [4]byte
	if size := copy(four[:], name); size < len(four) {
		copy(four[size:], `":`)
	}
	for k := n.begin[placeOf(binary.LittleEndian.Uint32(four[:]))]; k != nil; k = k.next {
		if k.name == string(name) {
			return k.number
		}
	}
	return 0
}

// Member is Name for who knows some names: number is that of the name, if it is one of them that stands there as in nearly
// all texts, without an escape, and without a blank around it. 0 is any other, which Of may tell. Named has it as it stands.
func (s *Scanner) Member(names *Names) (number uint64, ok bool) {
	at, lead := s.at, byte(',')
	if !s.more {
		at, lead = at-1, '{'
	}
	if s.fault == nil && at >= 0 && at <= len(s.text)-8 && s.text[at] == lead {
		if k := names.at(s.text[at:]); k != nil {
			s.name = extent{at + 1, at + k.size - 1}
			s.last, s.at = 0, at+k.size
			return k.number, true
		}
	}
	_, ok = s.Name()
	return 0, ok
}

// at is the name that stands behind the first byte of a text of eight at least; nil for none.
func (n *Names) at(text []byte) *known {
	first := binary.LittleEndian.Uint64(text)
	k := n.begin[placeOf(uint32(first>>16))]
	for k != nil && (first&k.mask != k.first || !k.goesOn(text)) {
		k = k.next
	}
	return k
}

// goesOn reports whether text has the rest of k as well.
func (k *known) goesOn(text []byte) bool {
	return k.rest == "" || len(text) >= k.size && text[k.size-1] == ':' && string(text[8:k.size]) == k.rest
}

// Named is the name that Name or Member stepped over last, in its quotes.
func (s *Scanner) Named() []byte { return s.text[s.name.from:s.name.to:s.name.to] }
