package grammar

// Eight characters are looked at as one word, a byte each.
const (
	low  = 0x0101010101010101 // the lowest bit of each
	high = 0x80 * low
)

// word returns the first eight characters of text.
func word[T Characters](text T) uint64 {
	_ = text[7]
	return uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
		uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
}

// mayHaveControl reports whether a character of w is below the blank, or DEL. It never overlooks one: subtraction borrows
// from a character only to the ones above it, and only where it found one.
func mayHaveControl(w uint64) bool {
	deleted := w ^ 0x7f*low // 0 where DEL was
	return ((w-' '*low)&^w|(deleted-low)&^deleted)&high != 0
}
