package verbs

import (
	"io"
	"strings"
	"unicode"
)

// plainly writes text without what steers a terminal: what clients and servers worded may stand in it.
type plainly struct{ to io.Writer }

func (p plainly) Write(text []byte) (int, error) {
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		lines[i] = plain(line)
	}
	if _, err := io.WriteString(p.to, strings.Join(lines, "\n")); err != nil {
		return 0, err
	}
	return len(text), nil
}

// plain is text without what steers a terminal or the order in which it is read, on one line.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			return '?'
		}
		return r
	}, text)
}
