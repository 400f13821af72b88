package command

// openLabels have values that the page explains and does not list.
var openLabels = []string{"pool", "upstream", "mcp_method_name", "error_type", "rule", "holder", "webhook", "operation"}

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
	"berth.webhook.waiting":          {"webhook": nil},
	"berth.webhook.oldest":           {"webhook": nil},
	"berth.store.operation.duration": {"operation": nil},
	"berth.reloads":                  {"what": {"tls", "upstream_tls", "store_tls", "jwks", "authorization"}},
}

// plainer says of metrics that semantic conventions describe what berth measures by them.
var plainer = map[string]string{
	"mcp.server.operation.duration": "A request, from its header to the last byte of its answer",
	"mcp.client.operation.duration": "An exchange with an upstream, to the last byte of its answer; each attempt is one",
}

const pageHead = `# Metrics, all of them

<!-- Written by: go test ./internal/command -update-metrics -->

For operators who look one up: every metric, with its labels and their values. What is worth an alert or a graph, and what holds for all of them,
is in [metrics.md](metrics.md); what labels' values mean in [labels.md](labels.md).
`

const watchedHead = `# Metrics

<!-- Written by: go test ./internal/command -update-metrics -->

For operators: what [the alert rules](../deploy/prometheus/alerts.yml) and [the dashboard](../deploy/grafana/berth.json) ask for. All metrics, with labels'
values: [reference](metrics-reference.md); what values mean: [labels](labels.md).

- ` + "`GET /metrics`" + ` of the [admin listener](admin.md), as Prometheus text. Each berth tells of itself alone: sum over berths, unless it is said otherwise.
- Counters stand at 0 from the start for every label value that is known then: an alert fires with the first event.
- A counter or histogram has 1000 series; more count under ` + "`otel_metric_overflow=\"true\"`" + `. Ids and principals are never labels.
- Beside these: ` + "`berth_build_info{version,revision,goversion}`" + `, ` + "`go_*`, `process_*`, `target_info`" + `.

## Alerts

` + "`BerthAway`" + ` is Prometheus' own ` + "`up == 0`" + `. What to do at each: the [runbook](runbook.md), under the alert's name.
`
