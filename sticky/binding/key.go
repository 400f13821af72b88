package binding

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// Kind is what a key names. It is a label of metrics and begins the key's name in
// the store.
type Kind string

// The kinds of keys.
const (
	Task     Kind = "task"     // a task id
	Session  Kind = "session"  // an Mcp-Session-Id
	Claim    Kind = "claim"    // a task or session of any principal: whose it is
	Change   Kind = "change"   // a task or session that was just changed, or is being changed
	Affinity Kind = "affinity" // a value that calls carry: where the calls that carry it go
	Hint     Kind = "hint"     // a list cursor or a requestState: where it came from is preferred, no more

	Handshake Kind = "handshake" // what it takes to open a session anew; it has no binding
)

// Counted reports whether what keys of a kind name is owned: it stands in its owner's list.
func (k Kind) Counted() bool { return k == Task || k == Session }

// Key names one binding. Equal ids of different pools or principals are
// different keys: what another principal owns cannot even be looked up.
type Key struct {
	Kind      Kind   // what ID is the id of
	Pool      string // the pool's name
	Principal string // who is calling; "" is nobody
	ID        string // as clients and servers write it
}

// Claim returns the key under which the id that k names is claimed for k's
// principal, whoever looks for it.
func (k Key) Claim() Key {
	return Key{Kind: Claim, Pool: k.Pool, ID: string(k.Kind) + "\x00" + k.ID}
}

// Change returns the key under which changes of what k names are marked.
func (k Key) Change() Key {
	return Key{Kind: Change, Pool: k.Pool, Principal: k.Principal, ID: string(k.Kind) + "\x00" + k.ID}
}

// Handshake returns the key of the handshake of the session that k names.
func (k Key) Handshake() Key {
	k.Kind = Handshake
	return k
}

// Digest returns the key's name in the store. Ids and principals do not appear
// in it: whoever can list the store's keys learns neither.
func (k Key) Digest() string {
	var room [64]byte
	of := k.Sum()
	return string(of.AppendName(room[:0], k.Kind))
}

// Sum is what a key's name in the store is made of: those of two keys differ.
type Sum [20]byte

// AppendName appends the name in the store of a key of that kind which s is the sum of; see Key.Digest.
func (s *Sum) AppendName(name []byte, kind Kind) []byte {
	return base64.RawURLEncoding.AppendEncode(append(append(name, kind...), ':'), s[:])
}

// Sum returns what the key's name in the store is made of.
func (k *Key) Sum() Sum {
	named := make([]byte, 0, 256) // on the stack, unless the parts are long
	for _, part := range [...]string{string(k.Kind), k.Pool, k.Principal, k.ID} {
		named = binary.BigEndian.AppendUint64(named, uint64(len(part)))
		named = append(named, part...)
	}
	whole := sha256.Sum256(named)
	return Sum(whole[:20])
}
