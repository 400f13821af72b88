package proxy

import (
	"cmp"
	"strings"
	"time"

	"berth/internal/mcp"
)

// accessRecord is the one record that a request leaves. Its fields:
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
func (x *request) accessRecord(took time.Duration) []any {
	record := []any{"http", clip(x.r.Method), "path", clip(x.r.URL.Path), "method", x.methodText(), "era", x.era().String()}
	add := func(name, value string) {
		if value != "" {
			record = append(record, name, clip(value))
		}
	}
	add("pool", x.poolName())
	add("version", x.version())
	record = x.appendSubject(record)
	add("source", string(x.decision.Source))
	add("upstream", x.upstream)
	add("moved_from", x.movedFrom)
	record = append(record, "status", x.status)
	if x.code != 0 {
		record = append(record, "code", x.code)
	}
	record = append(record, "outcome", x.outcome(), "ms", milliseconds(took), "bytes", x.written)
	if !x.begun.IsZero() {
		record = append(record, "first_ms", milliseconds(x.begun.Sub(x.started)))
	}
	if x.attempts > 0 {
		record = append(record, "attempts", x.attempts)
	}
	add("holder", x.holder)
	if address := x.p.addressOf(x.r, x.trusted); address.IsValid() {
		add("client", address.String())
	}
	add("agent", x.r.UserAgent())
	if session := cmp.Or(x.session, x.newSession); session != "" {
		add("session", digest(session))
	}
	if trace := x.span.server.SpanContext().TraceID(); trace.IsValid() {
		add("trace", trace.String())
	}
	if x.err != nil {
		add("error", x.errorText())
	}
	return record
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// appendSubject appends what the request is about: tool or prompt, and task.
func (x *request) appendSubject(record []any) []any {
	c := x.call()
	if c == nil {
		return record
	}
	switch {
	case c.Name == "":
	case c.Method == mcp.MethodCallTool:
		record = append(record, "tool", clip(c.Name))
	case c.Method == mcp.MethodGetPrompt:
		record = append(record, "prompt", clip(c.Name))
	}
	if task := cmp.Or(c.TaskID, x.handed); task != "" {
		record = append(record, "task", clip(task))
	}
	return record
}

// methodText is the method as the client gave it: a log need not be bounded as
// metrics are, and an unknown method's name is what an operator looks for.
func (x *request) methodText() string {
	if c := x.call(); c != nil && c.Method != "" {
		return clip(c.Method)
	}
	if label := x.methodLabel(); label != otherMethod {
		return label
	}
	return clip(x.r.Method)
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
