package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Fault is one thing that is wrong with a configuration.
type Fault struct {
	File string // the name of the file at fault, "" for a value that did not come from a file (a flag)
	Line int    // counts from 1; 0 where the key stands in no line, as a missing one
	Key  string // the path of the key, such as pools[0].upstreams[1].url; "" for a fault of the file as a whole
	// Message says what is wrong and what would be right, on one line and without a secret.
	Message string
}

// String returns "file:line: key: message", without the parts that are unknown.
func (f Fault) String() string {
	text := f.Message
	if f.Key != "" {
		text = f.Key + ": " + text
	}
	switch {
	case f.File != "" && f.Line > 0:
		return fmt.Sprintf("%s:%d: %s", f.File, f.Line, text)
	case f.File != "":
		return f.File + ": " + text
	}
	return text
}

// Faults is the error of [Load] and [Parse]: everything wrong, in the order of the file.
type Faults []Fault

// Error returns one fault a line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}

// maxQuoted bounds how much of a bad value is repeated, in bytes.
const maxQuoted = 80

func quote(s string) string {
	if len(s) > maxQuoted {
		return strconv.Quote(s[:maxQuoted]) + "…"
	}
	return strconv.Quote(s)
}

// findings gather faults, so that one value's does not hide the next one's.
type findings struct{ faults []Fault }

func (f *findings) fault(key, format string, args ...any) {
	f.faults = append(f.faults, Fault{Key: key, Message: fmt.Sprintf(format, args...)})
}

func (f *findings) faultIf(bad bool, key, format string, args ...any) {
	if bad {
		f.fault(key, format, args...)
	}
}

func (f *findings) oneOf(key, got string, allowed ...string) {
	if !slices.Contains(allowed, got) {
		f.fault(key, "must be one of %s, got %s", strings.Join(allowed, ", "), quote(got))
	}
}
