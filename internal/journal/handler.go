package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"sync/atomic"

	"berth/internal/jsonscan"
)

// Patient returns a logger whose lines may wait. They are those that Logger would write.
func (j *Journal) Patient(level slog.Leveler) *slog.Logger {
	return slog.New(&handler{journal: j, level: level, rest: j.Logger(level).Handler()})
}

// handler is a slog.Handler for records of strings and numbers, and groups of these without a name.
type handler struct {
	journal *Journal
	level   slog.Leveler
	rest    slog.Handler // for what is within attributes or groups
	first   atomic.Pointer[opening]
}

func (h *handler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level.Level() }

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler { return h.rest.WithAttrs(attrs) }

func (h *handler) WithGroup(name string) slog.Handler { return h.rest.WithGroup(name) }

func (h *handler) Handle(_ context.Context, r slog.Record) error {
	l := h.Begin(r.Time, r.Level, r.Message)
	r.Attrs(func(a slog.Attr) bool {
		l.text = appendAttr(l.text, a)
		return true
	})
	l.End()
	return nil
}

// appendAttr appends what a is, or, of a group without a name, what is in it.
func appendAttr(line []byte, a slog.Attr) []byte {
	if a.Key != "" || a.Value.Kind() != slog.KindGroup {
		return appendValue(appendName(line, a.Key), a.Value)
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
		return appendFloat(line, v.Float64())
	}
	return appendJSON(line, v.Any())
}

func appendFloat(line []byte, f float64) []byte {
	if f == 0 || f >= 1e-6 && f < 1e21 {
		return strconv.AppendFloat(line, f, 'f', -1, 64) // as encoding/json does
	}
	return appendJSON(line, f)
}

func appendString(line []byte, s string) []byte {
	if !jsonscan.IsVerbatim(s) {
		return appendJSON(line, s)
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
