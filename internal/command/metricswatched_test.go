package command

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	alertRule   = regexp.MustCompile(`(?m)^ +- alert: (\w+)$`)
	metricAsked = regexp.MustCompile(`\b(?:berth|mcp)_[a-z_]+[a-z]\b`)
	alertExpr   = regexp.MustCompile(`(?ms)^ +expr: (.*?)^ +(?:for|labels):`)
	panelExpr   = regexp.MustCompile(`"expr": ("(?:[^"\\]|\\.)*")`)
)

// watchedPage is what the alert rules and the dashboard ask for.
func (c *catalogue) watchedPage(t *testing.T, names map[string]string) []byte {
	t.Helper()
	alerts, drawn := alertsOf(t), drawnMetrics(t)
	var page, besides bytes.Buffer
	page.WriteString(watchedHead)
	page.WriteString("\n| metric | meaning | alert |\n| --- | --- | --- |\n")
	besides.WriteString("\n## On the dashboard besides\n\n| metric | meaning |\n| --- | --- |\n")
	for _, i := range c.instruments {
		name, series := names[i.name], names[i.name]
		if labels := c.labelNames(i.name); len(labels) > 0 {
			series += "{" + strings.Join(labels, ",") + "}"
		}
		switch {
		case len(alerts[name]) > 0:
			fmt.Fprintf(&page, "| `%s` | %s | %s |\n", series, i.says, strings.Join(alerts[name], ", "))
		case drawn[name]:
			fmt.Fprintf(&besides, "| `%s` | %s |\n", series, i.says)
		}
		delete(alerts, name)
	}
	for _, name := range slices.Sorted(maps.Keys(alerts)) {
		t.Errorf("%v ask for %s, which no instrument counts", alerts[name], name)
	}
	return append(page.Bytes(), besides.Bytes()...)
}

// alertsOf are the alerts that ask for each metric.
func alertsOf(t *testing.T) map[string][]string {
	t.Helper()
	rules := readDeployed(t, "prometheus/alerts.yml")
	asked := map[string][]string{}
	starts := alertRule.FindAllStringSubmatchIndex(rules, -1)
	for i, at := range starts {
		end := len(rules)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		expr := alertExpr.FindString(rules[at[1]:end])
		for _, metric := range metricAsked.FindAllString(expr, -1) {
			if alert := rules[at[2]:at[3]]; !slices.Contains(asked[metric], alert) {
				asked[metric] = append(asked[metric], alert)
			}
		}
	}
	if len(asked) == 0 {
		t.Fatal("no alert asks for a metric")
	}
	return asked
}

// drawnMetrics are those that the dashboard's panels ask for.
func drawnMetrics(t *testing.T) map[string]bool {
	t.Helper()
	drawn := map[string]bool{}
	for _, expr := range panelExpr.FindAllString(readDeployed(t, "grafana/berth.json"), -1) {
		for _, metric := range metricAsked.FindAllString(expr, -1) {
			drawn[strings.TrimSuffix(strings.TrimSuffix(metric, "_bucket"), "_count")] = true
		}
	}
	if len(drawn) == 0 {
		t.Fatal("the dashboard asks for no metric")
	}
	return drawn
}

func readDeployed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(module, "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
