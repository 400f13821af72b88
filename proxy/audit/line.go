package audit

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"berth/internal/mcp"
	"berth/proxy/inbound"
)

// line is one line of a log.
type line []slog.Attr

// lines are reused once their handler has returned, which must not keep them.
var lines = sync.Pool{New: func() any {
	const fields = 26 // that a line of the access log has at most
	room := make(line, 0, fields)
	return &room
}}

// log writes the request's line, which is one group without a name: a slog.Record would copy
// its fields. It goes to the handler itself: where a line was logged from is the same for all.
func (r *Record) log(e end) {
	handler, ctx := r.reporter.access, context.Background()
	if handler == nil || !handler.Enabled(ctx, slog.LevelInfo) {
		return
	}
	l := lines.Get().(*line)
	*l = (*l)[:0]
	l.fill(r, e)
	record := slog.NewRecord(r.Started.Add(e.took), slog.LevelInfo, "request", 0)
	record.AddAttrs(slog.Attr{Value: slog.GroupValue(*l...)})
	_ = handler.Handle(ctx, record) // as with any logger
	clear(*l)                       // it must not keep the request's body
	lines.Put(l)
}

// warnOfCut tells of a request that was cut: what is lost with it, and to whom it mattered.
func (r *Record) warnOfCut(took time.Duration) {
	var l line
	l.set("pool", r.call.PoolName())
	l.set("method", method(r.call))
	l.set("age", took.Round(time.Millisecond).String())
	l.addSubject(r)
	r.reporter.warn.LogAttrs(context.Background(), slog.LevelWarn, "a request was cut at the end of the drain", l...)
}

// fill adds what docs/operations.md lists under "The access record".
func (l *line) fill(r *Record, e end) {
	l.set("http", clip(r.call.HTTP.Method))
	l.set("path", clip(r.call.HTTP.URL.Path))
	l.set("method", method(r.call))
	l.set("era", r.call.Era().String())
	l.add("pool", r.call.PoolName())
	l.add("version", r.call.Version())
	l.addSubject(r)
	l.add("source", string(r.Source))
	l.add("upstream", r.Upstream)
	l.add("moved_from", r.MovedFrom)
	l.count("status", int64(r.Status))
	if r.Code != 0 {
		l.count("code", int64(r.Code))
	}
	l.set("outcome", e.outcome)
	l.time("ms", e.took)
	l.count("bytes", r.Written)
	if !r.Begun.IsZero() {
		l.time("first_ms", r.Begun.Sub(r.Started))
	}
	if r.attempts > 0 {
		l.count("attempts", int64(r.attempts))
	}
	l.add("holder", r.Holder)
	l.addCaller(r)
	l.add("error", r.errorText())
}

// add adds what a client or an upstream may have worded, if it is there.
func (l *line) add(name, value string) {
	if value != "" {
		l.set(name, clip(value))
	}
}

// set adds what is berth's own, or clipped.
func (l *line) set(name, value string) { *l = append(*l, slog.String(name, value)) }

func (l *line) count(name string, n int64) { *l = append(*l, slog.Int64(name, n)) }

func (l *line) time(name string, d time.Duration) {
	*l = append(*l, slog.Float64(name, float64(d.Microseconds())/1000))
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

// addCaller adds who sent the request, and in which session and trace.
func (l *line) addCaller(r *Record) {
	l.add("client", r.call.Address())
	l.add("agent", r.call.HTTP.Header.Get("User-Agent"))
	if session := cmp.Or(r.call.Session, r.Session); session != "" {
		l.set("session", inbound.Digest(session))
	}
	if trace := r.span.SpanContext().TraceID(); trace.IsValid() {
		l.set("trace", trace.String())
	}
}

// method is the method as the client gave it: a log need not be bounded as
// metrics are, and an unknown method's name is what an operator looks for.
func method(c *inbound.Call) string {
	if single := c.Single(); single != nil && single.Method != "" {
		return clip(single.Method)
	}
	if label := c.MethodLabel(); label != inbound.OtherMethod {
		return label
	}
	return clip(c.HTTP.Method)
}

// errorText is what may be told of an error: what the client was told of it, never
// what it sent.
func (r *Record) errorText() string {
	if r.Err == nil {
		return ""
	}
	if e := r.call.Word(r.Err); e != nil {
		return e.Error()
	}
	return r.Err.Error()
}

// clip keeps a line short and free of control characters, whatever a client sends.
func clip(s string) string {
	const most = 256
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.Map(func(r rune) rune {
		if mcp.IsUnfit(r) {
			return '?'
		}
		return r
	}, s)
}
