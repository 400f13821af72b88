package binding

import (
	"slices"
	"time"
)

// Packed is a binding as the near cache holds it. Its texts lie in one piece, behind those of its key, so that the
// collector follows one pointer and not one for each field.
type Packed struct {
	text          string
	ends          [packedTexts]uint16 // of the binding's texts in text, one behind another
	begins        uint16              // the first of them
	fixed, asked  bool
	status        uint8 // in usualStatuses; 0: it stands in text
	expires, kept instant
	made, until   int64
}

const (
	packedTexts = 15
	textStatus  = 7 // which of them Binding.Status is

	// MostPacked is how long the texts of a key and its binding may be together; longer ones are not cached.
	MostPacked = 1<<16 - 1
)

// usualStatuses are told as strings of their own: each answer is compared with the status, when the text that is packed is cold again.
var usualStatuses = [...]string{"", "working", "input_required", "completed", "failed", "cancelled", "submitted", "unknown"}

// values are the texts of b, in the order in which they are packed.
func (b *Binding) values() [packedTexts]string {
	return [...]string{
		b.Upstream, b.Principal, b.Session, b.Dialect, b.Version, b.Tasks, b.Declares, b.Status, b.Alias, b.Maker, b.ID, b.Tool,
		b.Origin, b.Former, b.FormerAlias,
	}
}

// texts are where values come from.
func (b *Binding) texts() [packedTexts]*string {
	return [...]*string{
		&b.Upstream, &b.Principal, &b.Session, &b.Dialect, &b.Version, &b.Tasks, &b.Declares, &b.Status, &b.Alias, &b.Maker, &b.ID, &b.Tool,
		&b.Origin, &b.Former, &b.FormerAlias,
	}
}

// Pack copies the texts of key and b, nothing of which is pinned by what it returns; false: they are too long.
func Pack(key *Key, b *Binding) (Packed, bool) {
	k := Packed{fixed: b.Fixed, asked: b.Asked, expires: instantOf(b.Expires), kept: instantOf(b.Kept), made: b.Made, until: b.Until}
	texts := b.values()
	fits := pack(&k, key, &texts)
	return k, fits
}

// pack has k have these texts, of which it takes those out that need no room.
func pack[T string | []byte](k *Packed, key *Key, texts *[packedTexts]T) bool {
	var room [512]byte // stays on the stack
	text := append(append(room[:0], key.Principal...), key.ID...)
	k.begins = uint16(len(text))
	if k.status = uint8(max(0, slices.Index(usualStatuses[:], string(texts[textStatus])))); k.status > 0 {
		var none T
		texts[textStatus] = none
	}
	for i := range texts {
		if len(texts[i]) > 0 { // as most are not
			text = append(text, texts[i]...)
		}
		k.ends[i] = uint16(len(text))
	}
	if len(text) > MostPacked { // and the numbers are of no use
		return false
	}
	k.text = string(text)
	return true
}

// Fill has b be what was packed. The monotonic clock's part of its times is not.
func (k *Packed) Fill(b *Binding) {
	*b = Binding{}
	b.Fixed, b.Asked, b.Expires, b.Kept, b.Made, b.Until = k.fixed, k.asked, k.expires.time(), k.kept.time(), k.made, k.until
	begins, texts := k.begins, b.texts()
	for i, ends := range k.ends {
		if ends > begins { // as most do not
			*texts[i] = k.text[begins:ends]
			begins = ends
		}
	}
	if k.status > 0 {
		b.Status = usualStatuses[k.status]
	}
}

// Of is the key's principal and id, one behind the other.
func (k *Packed) Of() string { return k.text[:k.begins] }

// Expires is when what was packed may be forgotten.
func (k *Packed) Expires() time.Time { return k.expires.time() }

// instant is a time without a place; the zero value is the zero time.
type instant struct {
	seconds int64 // since 1970
	nanos   uint32
	set     bool
}

func instantOf(t time.Time) instant {
	return instant{seconds: t.Unix(), nanos: uint32(t.Nanosecond()), set: !t.IsZero()}
}

func (i instant) time() time.Time {
	if !i.set {
		return time.Time{}
	}
	return time.Unix(i.seconds, int64(i.nanos))
}
