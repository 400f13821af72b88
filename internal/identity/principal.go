package identity

import (
	"strings"
	"unicode/utf8"
)

// maxPrincipal bounds a principal, in bytes: it is kept with every binding.
const maxPrincipal = 1024

// isText reports whether a principal, or its part, is the same wherever it is kept: what stands for no character is read as
// U+FFFD, so that two could be read as one.
func isText(s string) bool { return !strings.ContainsRune(s, utf8.RuneError) }
