package near

import (
	"hash/maphash"

	"berth/sticky/binding"
)

// bound is a key and its binding as the near cache holds them, so that the one allocation of a new one is its text.
type bound struct {
	binding.Packed
	kind      binding.Kind
	pool      string
	principal uint16 // the length of the key's principal, with which Packed.Of begins; its id follows
}

// keep has b be what is bound to key. What is kept has texts of that key.
func (b *bound) keep(key *binding.Key, what *binding.Packed) {
	b.Packed, b.kind, b.pool, b.principal = *what, key.Kind, key.Pool, uint16(len(key.Principal))
}

func (b *bound) is(key *binding.Key) bool {
	of, p := b.Of(), int(b.principal)
	return of[p:] == key.ID && of[:p] == key.Principal && b.kind == key.Kind && b.pool == key.Pool
}

var seed = maphash.MakeSeed()

// hashOf does not tell kinds and pools apart, of which there are few.
func hashOf(key *binding.Key) uint32 {
	h := maphash.String(seed, key.ID)
	if key.Principal != "" {
		h ^= maphash.String(seed, key.Principal) * 31
	}
	return uint32(h)
}
