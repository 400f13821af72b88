package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"sync"
	"time"
)

// Patient returns a logger whose lines may wait. They are those that Logger would write.
func (j *Journal) Patient(level slog.Level) *slog.Logger {
	return slog.New(&handler{j, level, j.Logger(level).Handler()})
}

// handler is a slog.Handler for records of strings and numbers, and groups of these without a name.
type handler struct {
	journal *Journal
	level   slog.Level
	rest    slog.Handler // for what is within attributes or groups
}

func (h *handler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler { return h.rest.WithAttrs(attrs) }

func (h *handler) WithGroup(name string) slog.Handler { return h.rest.WithGroup(name) }

// lines are buffers for one line each.
var lines = sync.Pool{New: func() any { return new([]byte) }}

func (h *handler) Handle(_ context.Context, r slog.Record) error {
	buffer := lines.Get().(*[]byte)
	*buffer = appendRecord((*buffer)[:0], r)
	h.journal.wait(*buffer)
	lines.Put(buffer)
	return nil
}

func appendRecord(line []byte, r slog.Record) []byte {
	line = append(line, '{')
	if !r.Time.IsZero() {
		line = append(r.Time.AppendFormat(append(line, `"time":"`...), time.RFC3339Nano), `",`...)
	}
	line = appendString(append(line, `"level":`...), r.Level.String())
	line = appendString(append(line, `,"msg":`...), r.Message)
	r.Attrs(func(a slog.Attr) bool {
		line = appendAttr(line, a)
		return true
	})
	return append(line, "}\n"...)
}

// appendAttr appends what a is, or, of a group without a name, what is in it.
func appendAttr(line []byte, a slog.Attr) []byte {
	if a.Key != "" || a.Value.Kind() != slog.KindGroup {
		return appendValue(append(appendString(append(line, ','), a.Key), ':'), a.Value)
	}
	for _, inner := range a.Value.Group() {
		line = appendAttr(line, inner)
	}
	return line
}

func appendValue(line []byte, v slog.Value) []byte {
	switch v.Kind() {
	case slog.KindString:
		return appendString(line, v.String())
	case slog.KindInt64:
		return strconv.AppendInt(line, v.Int64(), 10)
	case slog.KindFloat64:
		if f := v.Float64(); f == 0 || f >= 1e-6 && f < 1e21 {
			return strconv.AppendFloat(line, f, 'f', -1, 64) // as encoding/json does
		}
	}
	return appendJSON(line, v.Any())
}

func appendString(line []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
			return appendJSON(line, s)
		}
	}
	return append(append(append(line, '"'), s...), '"')
}

// appendJSON appends v the long way.
func appendJSON(line []byte, v any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return appendString(line, "!ERROR:"+err.Error())
	}
	return append(line, bytes.TrimSuffix(text.Bytes(), []byte("\n"))...)
}
