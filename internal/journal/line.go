package journal

import (
	"log/slog"
	"strconv"
	"sync"
	"time"
)

// Line is a line under way. It is for one goroutine, and gone with End.
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
		text = append(at.AppendFormat(append(text, `"time":"`...), time.RFC3339Nano), `",`...)
	}
	text = appendString(append(text, `"level":`...), level.String())
	l.journal, l.text = h.journal, appendString(append(text, `,"msg":`...), message)
	return l
}

// String adds an attribute.
func (l *Line) String(name, value string) { l.text = appendString(appendName(l.text, name), value) }

// Int adds an attribute.
func (l *Line) Int(name string, n int64) {
	l.text = strconv.AppendInt(appendName(l.text, name), n, 10)
}

// Float adds an attribute.
func (l *Line) Float(name string, f float64) { l.text = appendFloat(appendName(l.text, name), f) }

// End has the line go out.
func (l *Line) End() {
	l.text = append(l.text, "}\n"...)
	l.journal.wait(l.text)
	lines.Put(l)
}

func appendName(text []byte, name string) []byte {
	return append(appendString(append(text, ','), name), ':')
}
