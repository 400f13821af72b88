package probe

import (
	"net/http"
	"strings"
	"unicode"
)

// printable is text from a server as a terminal may show it: one line, no control or
// invisible characters, at most length runes.
func printable(text string, length int) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n++; n > length {
			b.WriteString("…")
			break
		}
		if !unicode.IsPrint(r) {
			r = ' '
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

// secrets are the values of the caller's headers. Servers repeat in errors what they
// were sent; reports must not.
type secrets []string

// shortestSecret keeps short words, which a report may need, from being blotted out.
const shortestSecret = 6

func secretsOf(headers ...http.Header) secrets {
	var s secrets
	for _, header := range headers {
		for _, values := range header {
			for _, value := range values {
				s = append(s, value)
				s = append(s, strings.Fields(value)...)
			}
		}
	}
	return s
}

// blot returns text without them.
func (s secrets) blot(text string) string {
	for _, secret := range s {
		if len(secret) >= shortestSecret {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}
