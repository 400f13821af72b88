//go:build e2e

package integration

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// The alerts that operators are given are rules that Prometheus takes, and fire when they
// should.
func TestAlertRulesFire(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		missing(t, "promtool")
	}
	for _, args := range [][]string{{"check", "rules", "../docs/alerts.yml"}, {"test", "rules", "testdata/alerts.test.yml"}} {
		if out, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// Every metric in a rule is one that operators can read of.
func TestAlertRulesNameMetricsThatThereAre(t *testing.T) {
	t.Parallel()
	rules, err := os.ReadFile("../docs/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`berth_[a-z_]+`).FindAllString(string(rules), -1) {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("%s is in a rule, and not in metrics.md", name)
		}
	}
}
