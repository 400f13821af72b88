package grammar

// SameName tells whether two names are one to a reader who takes letters without case and the underscore for a hyphen, as
// CGI does. want is in lower case.
func SameName(name []byte, want string) bool {
	if len(name) != len(want) {
		return false
	}
	for i, c := range name {
		if c = lower(c); c != want[i] && (c != '_' || want[i] != '-') {
			return false
		}
	}
	return true
}

// Misplaced reports whether a trailer field of a request has a name by which a reader who merges trailers into the head
// would frame or route anew (RFC 9110, 6.5.1).
func Misplaced(name []byte) bool {
	for _, barred := range []string{
		"content-length", "transfer-encoding", "host", "trailer", "connection",
		"authorization", "forwarded", "via",
	} {
		if SameName(name, barred) {
			return true
		}
	}
	for _, prefix := range []string{"mcp-", "x-forwarded-"} {
		if len(name) >= len(prefix) && SameName(name[:len(prefix)], prefix) {
			return true
		}
	}
	return false
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
