package audit

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"time"
	"unicode"

	"berth/internal/journal"
	"berth/internal/jsonscan"
	"berth/internal/mcp"
	"berth/internal/seal"
	"berth/proxy/inbound"
)

// line is one line of a log.
type line struct {
	text  *journal.Line // where it is written; nil: nowhere yet
	attrs []slog.Attr   // what it is otherwise
}

// log writes the request's line. It goes to the handler itself: where a line was logged from is the
// same for all.
func (r *Record) log(e end) {
	const message = "request"
	handler, ctx := r.reporter.access, context.Background()
	if handler == nil || !handler.Enabled(ctx, slog.LevelInfo) {
		return
	}
	if lines := r.reporter.lines; lines != nil {
		l := line{text: lines.Begin(e.at, slog.LevelInfo, message)}
		l.fill(r, e)
		l.text.End()
		return
	}
	var l line
	l.fill(r, e)
	record := slog.NewRecord(e.at, slog.LevelInfo, message, 0)
	record.AddAttrs(l.attrs...)
	_ = handler.Handle(ctx, record) // as with any logger
}

// warnOfCut tells of a request that was cut: what is lost with it, and to whom it mattered.
func (r *Record) warnOfCut(took time.Duration) {
	var l line
	l.put("pool", r.call.PoolName())
	l.put("method", method(r.call))
	l.set("age", took.Round(time.Millisecond).String())
	l.addSubject(r)
	r.reporter.warn.LogAttrs(context.Background(), slog.LevelWarn, "a request was cut at the end of the drain", l.attrs...)
}

// fill adds what docs/access.md lists.
func (l *line) fill(r *Record, e end) {
	known, begins, went, sent := &r.reporter.known, headOf(r), fateOf(r, e), senderOf(r)
	write(l, &known.heads, begins.number(), &begins)
	l.addSubject(r)
	write(l, &known.fates, went.number(), &went)
	l.time("ms", e.took)
	l.count("bytes", r.Written)
	if !r.Begun.IsZero() {
		l.time("first_ms", r.Begun.Sub(r.call.Began))
	}
	l.add("client", r.call.Address())
	write(l, &known.senders, sent.number(), &sent)
	l.addContext(r)
	l.add("error", r.errorText(e.outcome))
}

// add is put of what is there.
func (l *line) add(name, value string) {
	if value != "" {
		l.put(name, value)
	}
}

// length is how much of it is written.
func (l *line) length() int {
	if l.text == nil {
		return 0
	}
	return l.text.Len()
}

// put adds what a client, an upstream or an operator may have worded.
func (l *line) put(name, value string) {
	switch {
	case l.text == nil:
		l.attrs = append(l.attrs, slog.String(name, Clip(value)))
	case len(value) > clipped || !l.text.Plain(name, value):
		l.text.String(name, Clip(value))
	}
}

// set adds a word of berth's own.
func (l *line) set(name, value string) {
	if l.text != nil {
		l.text.Word(name, value)
	} else {
		l.attrs = append(l.attrs, slog.String(name, value))
	}
}

func (l *line) count(name string, n int64) {
	if l.text != nil {
		l.text.Int(name, n)
	} else {
		l.attrs = append(l.attrs, slog.Int64(name, n))
	}
}

func (l *line) time(name string, d time.Duration) {
	if l.text != nil {
		l.text.Millis(name, d)
	} else {
		l.attrs = append(l.attrs, slog.Float64(name, float64(d.Microseconds())/1000))
	}
}

// addSubject adds what the request is about: tool or prompt, and task.
func (l *line) addSubject(r *Record) {
	c := r.call.Single()
	if c == nil {
		return
	}
	switch c.Method {
	case mcp.MethodCallTool:
		l.add("tool", c.Name)
	case mcp.MethodGetPrompt:
		l.add("prompt", c.Name)
	}
	l.add("task", cmp.Or(c.TaskID, r.Task))
}

// addContext adds in which session and trace the request was sent.
func (l *line) addContext(r *Record) {
	if session := cmp.Or(r.call.Session, r.Session); session != "" {
		l.set("session", seal.Digest(session))
	}
	if r.ctx == context.Background() {
		return // there is no trace
	}
	if trace := r.span.SpanContext().TraceID(); trace.IsValid() {
		l.set("trace", trace.String())
	}
}

// method is the method as the client gave it, at any length: a log need not be bounded as
// metrics are, and an unknown method's name is what an operator looks for.
func method(c *inbound.Call) string {
	if single := c.Single(); single != nil && single.Method != "" {
		return single.Method
	}
	if label := c.MethodLabel(); label != inbound.OtherMethod {
		return label
	}
	return c.HTTP.Method
}

// errorText is what may be told of an error: what the client was told of it, never
// what it sent. Of a request that was cut and told nothing it is that, whatever broke by it.
func (r *Record) errorText(outcome string) string {
	switch {
	case r.Err == nil:
		return ""
	case outcome == outcomeCut && r.Code == 0:
		return "proxy: cut at the end of the time to drain"
	}
	if e := r.call.Word(r.Err); e != nil {
		return e.Error()
	}
	return r.Err.Error()
}

// clipped is the most that Clip leaves of a text, in bytes.
const clipped = 256

// Clip keeps a line short, free of control characters, and in its order on a screen, whatever a client sends.
func Clip(s string) string { return clean(cut(s)) }

// cut is the half of Clip that keeps a line short.
func cut(s string) string {
	if len(s) > clipped {
		return s[:clipped] + "…"
	}
	return s
}

// clean is the other half.
func clean(s string) string {
	if jsonscan.IsVerbatim(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if mcp.IsUnfit(r) || unicode.Is(unicode.Bidi_Control, r) {
			return '?'
		}
		return r
	}, s)
}
