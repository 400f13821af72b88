package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

type finding struct {
	key     string // of the configuration, as in config.Fault
	text    string // without secrets
	warning bool   // berth keeps its promises all the same
}

func fault(key string, err error) finding { return finding{key: key, text: worded(err)} }

func worded(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("no answer within %v", lookWithin)
	}
	return err.Error()
}

// String returns "key: text" in one line, with "warning" between them if it is one.
// Some of the words may be another's: a server's, or the system's.
func (f finding) String() string {
	line := f.key + ": "
	if f.warning {
		line += "warning: "
	}
	return line + strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, f.text)
}

type findings []finding

// Error returns one finding a line.
func (f findings) Error() string {
	lines := make([]string, len(f))
	for i, one := range f {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}
