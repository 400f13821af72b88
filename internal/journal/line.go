package journal

import (
	"log/slog"
	"strconv"
	"sync"
	"time"

	"berth/internal/jsonscan"
)

// Line is a line under way. It is for one goroutine, and gone with End. The names of its attributes are plain: letters,
// digits and underscores.
type Line struct {
	journal *Journal
	text    []byte
}

// Liner is implemented by the handlers of loggers from Patient. A line that is written by it is the one
// that Handle would write of the same attributes, at the cost of its bytes.
type Liner interface {
	// Begin begins a line, which End has go out.
	Begin(at time.Time, level slog.Level, message string) *Line
}

// lines are reused. One of the access log has some hundred bytes.
var lines = sync.Pool{New: func() any { return &Line{text: make([]byte, 0, 1<<10)} }}

// Begin implements Liner.
func (h *handler) Begin(at time.Time, level slog.Level, message string) *Line {
	l := lines.Get().(*Line)
	text := append(l.text[:0], '{')
	if !at.IsZero() {
		text = append(appendTime(append(text, `"time":"`...), at), `",`...)
	}
	l.journal, l.text = h.journal, h.appendOpening(text, level, message)
	return l
}

// String adds an attribute.
func (l *Line) String(name, value string) {
	l.text = appendString(appendPlainName(l.text, name), value)
}

// Plain adds an attribute, and reports that it has: it does so if value is printable ASCII in which nothing is to be
// escaped. What is known of a value by that need not be found out twice.
func (l *Line) Plain(name, value string) bool {
	if !jsonscan.IsVerbatim(value) {
		return false
	}
	l.Word(name, value)
	return true
}

// Word adds an attribute of which it is known that Plain would add it: a word of the program's own.
func (l *Line) Word(name, value string) {
	text := append(append(append(l.text, `,"`...), name...), `":"`...)
	l.text = append(append(text, value...), '"')
}

// Len is how long the line is.
func (l *Line) Len() int { return len(l.text) }

// Since is what was added since the line was so long, for Again.
func (l *Line) Since(length int) string { return string(l.text[length:]) }

// Again adds what was added to a line before.
func (l *Line) Again(attributes string) { l.text = append(l.text, attributes...) }

// Int adds an attribute.
func (l *Line) Int(name string, n int64) {
	l.text = strconv.AppendInt(appendPlainName(l.text, name), n, 10)
}

// Millis adds an attribute that is a time as a number of milliseconds, to the microsecond.
func (l *Line) Millis(name string, d time.Duration) {
	l.text = appendMillis(appendPlainName(l.text, name), d)
}

// End has the line go out.
func (l *Line) End() {
	l.text = append(l.text, "}\n"...)
	l.journal.wait(l.text)
	lines.Put(l)
}

// appendPlainName is appendName of a name in which nothing is to be escaped.
func appendPlainName(text []byte, name string) []byte {
	return append(append(append(text, `,"`...), name...), `":`...)
}

// appendMillis appends what appendFloat does of as many milliseconds: up to fifteen digits, a decimal fraction is the
// shortest text of the float64 next to it.
func appendMillis(text []byte, d time.Duration) []byte {
	const most = 1e15
	us := d.Microseconds()
	if us < 0 || us >= most {
		return appendFloat(text, float64(us)/1000)
	}
	text = strconv.AppendInt(text, us/1000, 10)
	rest := uint32(us % 1000)
	if rest == 0 {
		return text
	}
	one, two, three := byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10)
	switch {
	case three != '0':
		return append(text, '.', one, two, three)
	case two != '0':
		return append(text, '.', one, two)
	}
	return append(text, '.', one)
}

func appendName(text []byte, name string) []byte {
	return append(appendString(append(text, ','), name), ':')
}
