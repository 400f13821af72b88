package command

// openLabels have values that the page explains and does not list.
var openLabels = []string{"pool", "upstream", "mcp_method_name", "error_type", "rule", "holder", "operation"}

// unbegun are labels of instruments whose series do not stand from the start, and of those whose values
// depend on more than one configuration.
var unbegun = map[string]map[string][]string{
	"berth.requests": {
		"pool": nil, "mcp_method_name": nil, "era": {"legacy", "modern"}, "status": {"2xx", "3xx", "4xx", "5xx", "none"},
		"source":  {"bound", "lru", "store", "asked", "picked", "fanout", "coalesced", "last_seen", "upgraded"},
		"outcome": {"ok", "upstream_error", "refused", "failed", "client_gone", "cut"},
	},
	"mcp.server.operation.duration":  {"pool": nil, "mcp_method_name": nil, "error_type": nil},
	"mcp.client.operation.duration":  {"pool": nil, "upstream": nil, "mcp_method_name": nil, "error_type": nil},
	"berth.lookups":                  {"kind": {"task", "session", "claim", "affinity", "hint"}, "source": {"bound", "lru", "store", "unknown", "unavailable"}},
	"berth.upgrade.round.duration":   {"pool": nil, "upstream": nil, "outcome": {"result", "error", "input_required", "answered", "refused", "given_up", "failed"}},
	"berth.subscription.streams":     {"pool": nil, "shared": {"true", "false"}},
	"berth.rate.limited":             {"rule": nil},
	"berth.rate.alone":               {"rule": nil},
	"berth.health.checks":            {"pool": nil, "upstream": nil, "outcome": {"passed", "failed"}},
	"berth.bridge.sessions":          {"pool": nil, "upstream": nil},
	"berth.bridge.waiting":           {"pool": nil, "upstream": nil},
	"berth.upstream.owned":           {"pool": nil, "upstream": nil, "kind": {"task", "session", "stream", "request", "held"}},
	"berth.upstream.draining":        {"pool": nil, "upstream": nil},
	"berth.store.operation.duration": {"operation": nil},
	"berth.reloads":                  {"what": {"tls", "upstream_tls", "store_tls", "jwks", "authorization"}},
}

const pageHead = `# Metrics

<!-- Written by: go test ./internal/command -run TestMetricsPage -update-metrics -->

` + "`GET /metrics`" + ` of the [admin listener](operations.md), as Prometheus text. Each berth tells of itself alone, unless it is said otherwise; with
several, sum. What is worth an alert stands in [alerts.yml](alerts.yml). Counters of events stand at 0 from the start for every label value
that is known then. A metric has 1000 series at most; what exceeds that is counted under ` + "`otel_metric_overflow=\"true\"`" + `. Ids and principals are
never labels. Beside these: ` + "`berth_build_info{version,revision,goversion}`" + `, ` + "`go_*`, `process_*`, `target_info`" + `.
`

const pageFoot = `
| label | values |
| --- | --- |
| ` + "`mcp_method_name`" + ` | a method of the published revisions; ` + "`other`, `batch`, `response`; `GET`, `POST`, `DELETE`, `HEAD`, `OPTIONS`" + ` where there is no message |
| ` + "`source`" + ` | how the upstream was found: in a session or by its task (bound: memory:; lru; store), by asking the fleet (asked), by choice (picked); fanout: a list over a pool; coalesced: another poll's answer; last_seen: berth, for a silent owner; upgraded: a task of berth's own |
| ` + "`outcome`" + ` of requests | ok; upstream_error: the upstream's own 5xx; refused: by berth, below 500; failed: by berth, 500 and above, or an answer withheld; client_gone; cut: at the end of the time to drain |
| ` + "`error_type`" + ` | none if all went well; the JSON-RPC code; the outcome; tool_error: isError in the result; of exchanges timeout, connection_refused, garbled, broken_off |
| ` + "`operation`" + ` | of the store: get, put_if_absent, swap, put, delete, enlist, delist, keep, members, listing, notify, now, ping, rate |
`
