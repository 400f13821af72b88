package proxy

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"time"

	"berth/internal/mcp"
	"berth/proxy/inbound"
)

// logAccess writes the request's record. It goes to the handler itself: where a line was
// logged from is the same for all.
func (x *request) logAccess(took time.Duration) {
	handler, ctx := x.p.options.AccessLog.Handler(), context.Background()
	if !handler.Enabled(ctx, slog.LevelInfo) {
		return
	}
	var room [maxFields]slog.Attr
	record := slog.NewRecord(time.Now(), slog.LevelInfo, "request", 0)
	record.AddAttrs(x.accessRecord(room[:0], took)...)
	_ = handler.Handle(ctx, record) // as with any logger
}

// maxFields is how many fields an access record has at most.
const maxFields = 26

// accessFields are fields of an access record.
type accessFields []slog.Attr

// add adds what a client or an upstream may have worded, if it is there.
func (f *accessFields) add(name, value string) {
	if value != "" {
		f.set(name, clip(value))
	}
}

// set adds what is berth's own, or clipped.
func (f *accessFields) set(name, value string) { *f = append(*f, slog.String(name, value)) }

func (f *accessFields) count(name string, n int64) { *f = append(*f, slog.Int64(name, n)) }

func (f *accessFields) time(name string, d time.Duration) {
	*f = append(*f, slog.Float64(name, float64(d.Microseconds())/1000))
}

// accessRecord appends the one record that a request leaves. Its fields:
//
//	pool, http, path    where it went; the path without its query
//	method              JSON-RPC method, known or not, "batch", "response" or the HTTP method
//	era, version        the protocol the client speaks
//	tool, prompt        its name, as the client gave it
//	task                task id that the call is about, or that berth made of it
//	source              how the upstream was found: bound, lru, store, asked, picked,
//	                    fanout where all were asked, coalesced where another poll's
//	                    answer was given, upgraded where the task is
//	                    berth's own, or last_seen where berth answered in its place
//	upstream            who got the request last; of a subscription all that serve it
//	moved_from          who held the session before this request moved it
//	status, code        HTTP status, JSON-RPC error code; of a stopgap the status is 200
//	outcome             ok, upstream_error, refused, failed, client_gone,
//	                    cut where berth's own end broke it off
//	ms, first_ms, bytes duration; time to the answer's first byte; bytes of its body
//	attempts            how many requests to upstreams it took
//	holder              the berth that holds the call of a task of berth's own
//	client, agent       the client's address, as trusted proxies tell it; its User-Agent
//	session, trace      digest of the session's id; id of the trace
//	error               why berth refused or failed
//
// Session ids, credentials, arguments, URIs of resources and results never appear.
func (x *request) accessRecord(f accessFields, took time.Duration) accessFields {
	f.set("http", clip(x.HTTP.Method))
	f.set("path", clip(x.HTTP.URL.Path))
	f.set("method", x.methodText())
	f.set("era", x.Era().String())
	f.add("pool", x.PoolName())
	f.add("version", x.Version())
	x.addSubject(&f)
	f.add("source", string(x.decision.Source))
	f.add("upstream", x.upstream)
	f.add("moved_from", x.movedFrom)
	f.count("status", int64(x.out.Status))
	if x.code != 0 {
		f.count("code", int64(x.code))
	}
	f.set("outcome", x.outcome())
	f.time("ms", took)
	f.count("bytes", x.out.Written)
	if !x.out.Begun.IsZero() {
		f.time("first_ms", x.out.Begun.Sub(x.started))
	}
	if x.attempts > 0 {
		f.count("attempts", int64(x.attempts))
	}
	f.add("holder", x.holder)
	x.addCaller(&f)
	if x.err != nil {
		f.add("error", x.errorText())
	}
	return f
}

// addSubject adds what the request is about: tool or prompt, and task.
func (x *request) addSubject(f *accessFields) {
	c := x.Single()
	if c == nil {
		return
	}
	switch c.Method {
	case mcp.MethodCallTool:
		f.add("tool", c.Name)
	case mcp.MethodGetPrompt:
		f.add("prompt", c.Name)
	}
	f.add("task", cmp.Or(c.TaskID, x.handed))
}

// addCaller adds who sent the request, and in which session and trace.
func (x *request) addCaller(f *accessFields) {
	if address := x.Table.AddressOf(x.HTTP, x.Trusted); address.IsValid() {
		f.add("client", address.String())
	}
	f.add("agent", x.HTTP.Header.Get("User-Agent"))
	if session := cmp.Or(x.Session, x.newSession); session != "" {
		f.add("session", inbound.Digest(session))
	}
	if trace := x.span.server.SpanContext().TraceID(); trace.IsValid() {
		f.add("trace", trace.String())
	}
}

// methodText is the method as the client gave it: a log need not be bounded as
// metrics are, and an unknown method's name is what an operator looks for.
func (x *request) methodText() string {
	if c := x.Single(); c != nil && c.Method != "" {
		return clip(c.Method)
	}
	if label := x.MethodLabel(); label != inbound.OtherMethod {
		return label
	}
	return clip(x.HTTP.Method)
}

// errorText is what may be told of an error: what the client was told of it, never
// what it sent.
func (x *request) errorText() string {
	if e := x.ladder(x.err); e != nil {
		return e.Error()
	}
	return x.err.Error()
}

// clip keeps a record short and free of control characters, whatever a client
// sends.
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
