//go:build e2e

package integration

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"berth/internal/identity/issuertest"
)

const (
	alertRules = "../deploy/prometheus/alerts.yml"
	alertTests = "../deploy/prometheus/alerts.test.yml"
	dashboard  = "../deploy/grafana/berth.json"
	runbook    = "../docs/runbook.md"
)

// promtool runs Prometheus's own check of its files.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	program, err := exec.LookPath("promtool")
	if err != nil {
		missing(t, "promtool")
	}
	if out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var alertNamed = regexp.MustCompile(`(?m)^ +- alert: (\w+)$`)

// The alerts that operators are given are rules that Prometheus takes, and each fires when it should.
func TestAlertRulesFire(t *testing.T) {
	t.Parallel()
	promtool(t, "check", "rules", alertRules)
	promtool(t, "test", "rules", alertTests)
	tests := readFile(t, alertTests)
	for _, alert := range alertNamed.FindAllStringSubmatch(readFile(t, alertRules), -1) {
		if !strings.Contains(tests, "alertname: "+alert[1]+"\n        exp_alerts:") {
			t.Errorf("no test has %s fire", alert[1])
		}
	}
}

// Each alert leads to what to do about it.
func TestAlertsHaveAPlaceInTheRunbook(t *testing.T) {
	t.Parallel()
	rules := readFile(t, alertRules)
	page, err := os.ReadFile(runbook)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, alert := range alertNamed.FindAllStringSubmatch(rules, -1) {
		if !strings.Contains(rules, "runbook_url: docs/runbook.md#"+strings.ToLower(alert[1])+"\n") {
			t.Errorf("%s links to no place of its own in the runbook", alert[1])
		}
		if heading := regexp.MustCompile(`(?m)^#+ ` + alert[1] + `$`); len(page) > 0 && !heading.Match(page) {
			t.Errorf("docs/runbook.md has no heading %s", alert[1])
		}
	}
}

var (
	queryOfPanel = regexp.MustCompile(`"expr": "((?:[^"\\]|\\.)*)"`)
	metricNamed  = regexp.MustCompile(`\b(?:berth|mcp_server|mcp_client|process|go)_[a-z_]+\b`)
)

// queries are what the dashboard asks, with its variables replaced as Grafana does.
func queries(t *testing.T) []string {
	t.Helper()
	variables := strings.NewReplacer(`\"`, `"`, "$__rate_interval", "1m", "$__range", "1h", "$__interval", "1m", "$berth", ".*", "$pool", ".*", "$job", ".*")
	var all []string
	for _, match := range queryOfPanel.FindAllStringSubmatch(readFile(t, dashboard), -1) {
		all = append(all, variables.Replace(match[1]))
	}
	if len(all) == 0 {
		t.Fatal("the dashboard asks nothing")
	}
	return all
}

// What the dashboard asks is PromQL.
func TestDashboardAsksWhatPrometheusUnderstands(t *testing.T) {
	t.Parallel()
	var rules strings.Builder
	rules.WriteString("groups:\n- name: dashboard\n  rules:\n")
	for i, query := range queries(t) {
		fmt.Fprintf(&rules, "  - record: panel:query:%d\n    expr: '%s'\n", i, query)
	}
	path := filepath.Join(t.TempDir(), "dashboard.yml")
	writeFile(t, path, rules.String())
	promtool(t, "check", "rules", path)
}

// Every metric in a rule or on the dashboard is one that a berth tells.
func TestAlertsAndDashboardNameMetricsThatThereAre(t *testing.T) {
	t.Parallel()
	told := toldMetrics(t)
	asked := append(queries(t), metricNamed.FindAllString(readFile(t, alertRules), -1)...)
	for _, name := range metricNamed.FindAllString(strings.Join(asked, " "), -1) {
		if !slices.Contains(told, name) {
			t.Errorf("%s is asked for, and not told by berth", name)
		}
	}
}

// toldMetrics are the names of all metrics of a berth that has everything to tell of, and of one with an issuer of tokens.
func toldMetrics(t *testing.T) []string {
	t.Helper()
	s, fleet := newSite(t), startLocalFleet(t, nil)
	instances := filepath.Join(t.TempDir(), "instances.json")
	writeFile(t, instances, "[]")
	full := startWatched(t, fleet.fleet, "--config", configFile(t, fmt.Sprintf(`
[log]
audit = "file:%s"
[tls]
cert = %q
key = %q
[[limits.rate]]
tools = ["rated"]
rate = "1/m"
[[pools]]
[pools.discover]
file = %q
[pools.health]
check = "discover"
[[upgrade]]
tools = ["greet"]
[[upgrade.webhook]]
name = "receiver"
url = "https://127.0.0.1:1/"
allow_private = ["127.0.0.0/8"]
secrets = ["whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="]
`, s.path("audit.jsonl"), s.path("cert.pem"), s.path("key.pem"), instances)))
	full.base = strings.Replace(full.base, "http://", "https://", 1)
	client := s.client(t)
	client.create(t, full.url(), 600)
	client.upgraded(t, full.url(), "greet", map[string]any{"name": "greet"})
	for range 2 {
		_, _ = client.send(t, full.url(), "tools/call", "rated", map[string]any{"name": "rated"}) // the second is too many
	}
	listening, err := client.http.Do(modernRequest(t, full.url(), "subscriptions/listen", "", listenTo()))
	if err != nil || listening.StatusCode != http.StatusOK {
		t.Fatalf("subscribing: got %v, %v", listening, err)
	}
	defer listening.Body.Close()

	issuer := issuertest.New(t)
	tokens := startWatched(t, fleet.fleet, "--config", configFile(t, fmt.Sprintf(
		"[auth]\nprincipal = \"jwt\"\n[auth.jwt]\nissuer = %q\njwks = %q\nresource = \"https://berth.test\"\n[[pools]]\n", issuertest.Name, issuer.URL)))

	var names []string
	for _, one := range parseSeries(t, full.scrape(t)+tokens.scrape(t)) {
		names = append(names, one.name)
	}
	return names
}
