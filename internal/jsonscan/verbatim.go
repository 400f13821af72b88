package jsonscan

// IsVerbatim reports whether s is printable ASCII that stands in a JSON string as it is. It looks at eight bytes at a time; the last eight may
// be looked at twice.
func IsVerbatim(s string) bool {
	n := len(s)
	switch {
	case n >= 8:
		for i := 0; i < n-8; i += 8 {
			if anyEscaped(eightOf(s[i:])) {
				return false
			}
		}
		return !anyEscaped(eightOf(s[n-8:]))
	case n >= 4:
		return !anyEscaped(uint64(fourOf(s)) | uint64(fourOf(s[n-4:]))<<32)
	}
	for i := range n {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c > '~' {
			return false
		}
	}
	return true
}

// eightOf is the first eight bytes of s, as one number: the compiler makes one load of it.
func eightOf(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func fourOf(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// anyEscaped reports whether one of eight bytes is none that IsVerbatim lets pass. The highest bit of a byte tells: of
// x-0x20 that x was less, of x+1 that it was more than '~', and of x-1 that it was zero, which an exclusive or makes of one
// that is looked for. Bytes above may borrow or carry from one that was found, and no other.
func anyEscaped(eight uint64) bool {
	const each, high = 0x0101010101010101, 0x8080808080808080
	quote, backslash := eight^each*'"', eight^each*'\\'
	return ((eight-each*' ')|(eight+each)|eight|(quote-each)|(backslash-each))&high != 0
}
