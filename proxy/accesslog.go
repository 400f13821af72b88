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
//	outcome             ok, upstream_error, refused, failed, client_gone
//	ms, bytes           duration, and bytes of the answer's body
//	error               why berth refused or failed
//
// Sessions, credentials, arguments, URIs of resources and results never appear.
func (x *request) accessRecord(took time.Duration) []any {
	record := []any{"http", clip(x.r.Method), "path", clip(x.r.URL.Path), "method", x.methodText(), "era", x.era().String()}
	add := func(name, value string) {
		if value != "" {
			record = append(record, name, clip(value))
		}
	}
	add("pool", x.poolName())
	add("version", x.version())
	if c := x.call(); c != nil {
		switch c.Method {
		case mcp.MethodCallTool:
			add("tool", c.Name)
		case mcp.MethodGetPrompt:
			add("prompt", c.Name)
		}
		add("task", cmp.Or(c.TaskID, x.handed))
	}
	add("source", string(x.decision.Source))
	add("upstream", x.upstream)
	add("moved_from", x.movedFrom)
	record = append(record, "status", x.status)
	if x.code != 0 {
		record = append(record, "code", x.code)
	}
	record = append(record, "outcome", x.outcome(), "ms", float64(took.Microseconds())/1000, "bytes", x.written)
	if x.err != nil {
		add("error", x.errorText())
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
