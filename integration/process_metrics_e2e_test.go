//go:build e2e

package integration

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"berth/internal/storage/redistest"
)

// families are the metrics that are promised by name.
var families = []string{
	"berth_build_info", "berth_requests_total", "berth_lookups_total", "berth_bindings_total", "berth_asks_total",
	"berth_upstream_up", "berth_upstream_inflight", "berth_upstream_ejections_total",
	"berth_store_healthy", "berth_store_errors_total", "berth_store_operation_duration_seconds_count",
	"mcp_server_operation_duration_seconds_count", "mcp_client_operation_duration_seconds_count",
	"go_goroutines", "process_open_fds",
}

// labels are all that metrics may bear. What a client can vary is not among them:
// each value of a label costs memory, here and wherever metrics are kept.
var labels = []string{
	"pool", "upstream", "kind", "source", "outcome", "status", "era", "operation", "reason",
	"mcp_method_name", "error_type", "header", "state", "le", "quantile", "version", "goversion", "what", "revision",
	"service_name", "service_version", "telemetry_sdk_language", "telemetry_sdk_name", "telemetry_sdk_version",
}

// Whatever clients send and whatever befalls the rest, all is counted, and no label is
// made of what a client can vary.
func TestMetricsAreAllThereAndBearNothingOfAClients(t *testing.T) {
	t.Parallel()
	fleet := startLocalFleet(t, overloadedByLists)
	redis := redistest.Start(t)
	b := startWatched(t, fleet.fleet, "--store", redis.URL())
	b.awaitReadyz(t, storeOK)
	client := newModernClient(t)
	words := misbehave(t, client, b, "canary-with-redis")
	if !await(t, healedWithin, func() bool {
		_, _ = client.send(t, b.url(), "tools/list", "", map[string]any{}) // the ejection is what counts
		return b.metric(t, "berth_upstream_ejections_total") > 0
	}) {
		t.Error("no overloaded upstream was ejected")
	}
	redis.Kill()
	b.awaitReadyz(t, storeAway)
	words = append(words, misbehave(t, client, b, "canary-without")...)

	text := b.scrape(t)
	all := parseSeries(t, text)
	for _, family := range families {
		if !hasFamily(all, family) {
			t.Errorf("/metrics lacks %s", family)
		}
	}
	for _, word := range words {
		if strings.Contains(strings.ToLower(text), strings.ToLower(word)) {
			t.Errorf("/metrics has a client's own %q in it", word)
		}
	}
	for _, name := range labelNames(all) {
		if !slices.Contains(labels, name) {
			t.Errorf("/metrics has the label %s, want none but %v", name, labels)
		}
	}
}

// overloadedByLists answers lists as a gateway does before a server in trouble.
func overloadedByLists(w http.ResponseWriter, r *http.Request, _ []byte) bool {
	if r.Header.Get("Mcp-Method") != "tools/list" {
		return false
	}
	w.WriteHeader(http.StatusServiceUnavailable)
	return true
}

func hasFamily(all []series, name string) bool {
	for _, s := range all {
		if s.name == name {
			return true
		}
	}
	return false
}

var labelName = regexp.MustCompile(`([a-z_]+)="`)

func labelNames(all []series) []string {
	seen := make(map[string]bool)
	for _, s := range all {
		for _, match := range labelName.FindAllStringSubmatch(s.labels, -1) {
			seen[match[1]] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// misbehave sends requests with a word of the client's own wherever there is room. It
// returns what must not be found again: the word, and the ids of tasks.
func misbehave(t testing.TB, client *modernClient, b *watched, word string) []string {
	t.Helper()
	send := func(method, name string, params map[string]any) {
		if _, err := client.send(t, b.url(), method, name, params); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
	ids := tasksMade(t, client, b.url(), 10)
	wantTasks(t, client, b.url(), ids, askingAtOnce)
	send("tools/call", word, map[string]any{"name": word})
	send("tasks/get", word, map[string]any{"taskId": word})
	send("x/"+word, word, map[string]any{"name": word})
	send("resources/read", "file:///"+word, map[string]any{"uri": "file:///" + word})
	for _, method := range []string{http.MethodPut, "X" + strings.ToUpper(word)} {
		request := modernRequest(t, b.url()+"/"+word, "tools/list", word, map[string]any{})
		request.Method = method
		request.Header.Set("MCP-Protocol-Version", word)
		request.Header.Set("Mcp-Session-Id", word)
		response, err := client.http.Do(request)
		if err != nil {
			t.Errorf("%s: %v", method, err)
			continue
		}
		_ = response.Body.Close()
	}
	return append(ids, word)
}
