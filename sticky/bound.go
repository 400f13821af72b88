package sticky

import "hash/maphash"

// bound is a key and its binding as the near cache holds them, so that the one allocation of a new one is its text.
type bound struct {
	kept
	kind      Kind
	pool      string
	principal uint16 // the length of the key's principal, with which text begins; its id follows
}

// keep has b be what is bound to key. What is kept has texts of that key.
func (b *bound) keep(key *Key, what *kept) {
	b.kept, b.kind, b.pool, b.principal = *what, key.Kind, key.Pool, uint16(len(key.Principal))
}

func (b *bound) is(key *Key) bool {
	p := int(b.principal)
	return b.text[p:b.begins] == key.ID && b.text[:p] == key.Principal && b.kind == key.Kind && b.pool == key.Pool
}

var seed = maphash.MakeSeed()

// hash does not tell kinds and pools apart, of which there are few.
func (k *Key) hash() uint32 {
	h := maphash.String(seed, k.ID)
	if k.Principal != "" {
		h ^= maphash.String(seed, k.Principal) * 31
	}
	return uint32(h)
}
