package inbound

import (
	"crypto/sha256"
	"slices"
	"strings"
	"sync/atomic"

	"berth/internal/wire"
)

// sums are digests of fields of which many callers say the like, each in one place: who says the same byte for byte is not digested
// anew. What may be a credential is never among what is kept. The zero value has none; it may be used concurrently.
type sums struct {
	places [64]atomic.Pointer[knownSum]
	missed atomic.Uint32
}

// knownSum is a digest, and the fields that it is of.
type knownSum struct {
	fields []wire.Field
	sum    [sha256.Size]byte
}

// knownSums are of the process: a digest says nothing but what its fields do.
var knownSums sums

// Of sums that are kept, each of at most UsualFields.
const (
	mostOfSum  = 512 // bytes of the values
	summedSeen = 64  // how many are not found until one is kept in another's place: what is made up costs no memory
)

// of is the digest of fields, which it sorts. Many say the like of each of them.
func (s *sums) of(fields []*wire.Field) [sha256.Size]byte {
	if len(fields) == 0 || len(fields) > UsualFields {
		return ofSorted(fields)
	}
	place, size := s.place(fields)
	known := place.Load()
	if known != nil && known.isOf(fields) {
		return known.sum
	}
	if size > mostOfSum || known != nil && s.missed.Add(1)%summedSeen != 0 {
		return ofSorted(fields)
	}
	known = newKnownSum(fields)
	place.Store(known)
	return known.sum
}

// place is where the digest of fields is to be, and how long their values are.
func (s *sums) place(fields []*wire.Field) (place *atomic.Pointer[knownSum], size int) {
	number := uint(0)
	for _, f := range fields {
		n := len(f.Value)
		number, size = 31*number+uint(n), size+n
		if n > 0 {
			number += uint(f.Value[n-1])
		}
	}
	return &s.places[number%uint(len(s.places))], size
}

// isOf reports whether the digest is of these fields.
func (k *knownSum) isOf(fields []*wire.Field) bool {
	if len(k.fields) != len(fields) {
		return false
	}
	for i, f := range fields {
		if own := &k.fields[i]; own.Usual != f.Usual || own.Value != f.Value || f.Usual == 0 && own.Name != f.Name {
			return false
		}
	}
	return true
}

// newKnownSum digests fields, which it sorts, and keeps them in the order in which they come, as strings that pin no request.
func newKnownSum(fields []*wire.Field) *knownSum {
	k := &knownSum{fields: make([]wire.Field, 0, len(fields))}
	for _, f := range fields {
		k.fields = append(k.fields, wire.Field{Name: strings.Clone(f.Name), Value: strings.Clone(f.Value), Usual: f.Usual})
	}
	k.sum = ofSorted(fields)
	return k
}

// ofSorted is the digest of fields, which it sorts.
func ofSorted(fields []*wire.Field) [sha256.Size]byte {
	inOrder(fields)
	return digestOf(fields)
}

// telling appends the fields of h that may tell who the caller is: those that are the caller's own, and those of which many say the like.
func telling(own, ofMany []*wire.Field, h *wire.Header) (_, _ []*wire.Field) {
	all := h.Fields()
	for i := range all {
		f := &all[i]
		if usualOfOneMessage[f.Usual] || f.Usual == 0 && isOfOneMessage(f.Name) {
			continue
		}
		if usualOfMany[f.Usual] || f.Usual == 0 && isOfMany(f.Name) {
			ofMany = append(ofMany, f)
		} else {
			own = append(own, f)
		}
	}
	return own, ofMany
}

func isOfOneMessage(name string) bool { return IsOfOneCall(name) || IsOfOneRequest(name) }

var usualOfOneMessage = wire.UsualsThat(isOfOneMessage)

// usualOfMany are the headers that tell which program calls, and how it wants to be spoken to. An upstream may go by them, so that
// they are digested; nobody authenticates with them.
var usualOfMany = wire.UsualsThat(isOfMany)

func isOfMany(name string) bool {
	return slices.Contains([]string{"Accept-Language", "Cache-Control", "Sec-Fetch-Dest", "Sec-Fetch-Mode", "Sec-Fetch-Site", "User-Agent"}, name)
}
