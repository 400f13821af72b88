package grammar

// Characters are a part of a message.
type Characters interface{ ~string | ~[]byte }

// What a character may be part of.
const (
	inToken = 1 << iota
	inText
	inPlain
	inVisible
)

var characters = func() (table [256]uint8) {
	for c := range 256 {
		if c >= ' ' && c != 0x7f {
			table[c] |= inText | inPlain
		}
		if c > ' ' && c <= '~' {
			table[c] |= inVisible
		}
	}
	table['\t'] |= inText
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~") {
		table[c] |= inToken
	}
	return table
}()

func isAll[T Characters](text T, what uint8) bool {
	for i := range len(text) {
		if characters[text[i]]&what == 0 {
			return false
		}
	}
	return true
}

// IsToken tells whether text is a token, as methods and names of fields are (RFC 9110, 5.6.2).
func IsToken[T Characters](text T) bool { return len(text) > 0 && isAll(text, inToken) }

// IsText tells whether text may stand in a field's value (RFC 9110, 5.5).
func IsText[T Characters](text T) bool {
	if len(text) < 8 {
		return isAll(text, inText)
	}
	last := len(text) - 8
	for at := 0; at < last; at += 8 {
		if mayHaveControl(word(text[at:])) && !isAll(text[at:at+8], inText) {
			return false
		}
	}
	return !mayHaveControl(word(text[last:])) || isAll(text[last:], inText)
}

// IsPlain tells whether text has no control characters.
func IsPlain[T Characters](text T) bool { return isAll(text, inPlain) }

// IsVisible tells whether text is visible ASCII, one character at least. Elsewhere in Latin-1 there are characters that some readers of a
// request line take for blanks.
func IsVisible[T Characters](text T) bool { return len(text) > 0 && isAll(text, inVisible) }
