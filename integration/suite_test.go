package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// scenarioSet is a part of the official conformance suite that makes sense against
// one kind of fleet. Its verdicts are kept in testdata/golden under its name.
type scenarioSet struct {
	name string

	// version is the --spec-version of its runs; none for scenarios of an extension.
	version string

	// runs are the suite's command lines, without the URL and the version.
	runs [][]string
}

// only is the set's one scenario of that name.
func (s scenarioSet) only(scenario string) scenarioSet {
	s.runs = [][]string{{"--scenario", scenario}}
	return s
}

// tasksScenarios are the suite's scenarios of the Tasks extension. They take no
// --spec-version: with one, the suite skips them and exits with 0.
var tasksScenarios = []string{
	"tasks-lifecycle",
	"tasks-capability-negotiation",
	"tasks-wire-fields",
	"tasks-request-state-removal",
	"tasks-mrtr-input",
	"tasks-request-headers",
	"tasks-dispatch-and-envelope",
	"tasks-status-notifications",
	"tasks-required-task-error",
	"tasks-mrtr-composition",
}

func tasksSet(name string) scenarioSet {
	set := scenarioSet{name: name}
	for _, scenario := range tasksScenarios {
		set.runs = append(set.runs, []string{"--scenario", scenario})
	}
	return set
}

func coreSet(name, version string) scenarioSet {
	return scenarioSet{name: name, version: version, runs: [][]string{{"--suite", "all"}}}
}

// suiteRunWithin bounds one command line of the suite; it bounds each scenario itself.
const suiteRunWithin = 3 * time.Minute

// check is one verdict of the suite.
type check struct {
	Scenario     string `json:"-"`
	ID           string `json:"id"`
	Status       string `json:"status"` // SUCCESS, FAILURE, WARNING, INFO or SKIPPED
	ErrorMessage string `json:"errorMessage"`
}

// String is the check's line among the golden verdicts. One that the suite does not run
// says why.
func (c check) String() string {
	line := fmt.Sprintf("%-44s %-64s %s", c.Scenario, c.ID, c.Status)
	if c.Status == "SKIPPED" {
		line += ": " + c.ErrorMessage
	}
	return line
}

// runSuite runs a set against an MCP endpoint and returns the verdicts, scenario by
// scenario in alphabetical order, within one in the order of the suite.
func runSuite(t testing.TB, set scenarioSet, url string) []check {
	t.Helper()
	results := t.TempDir()
	for _, args := range set.runs {
		if set.version != "" {
			args = append(args, "--spec-version", set.version)
		}
		runSuiteOnce(t, results, url, args)
	}
	return readVerdicts(t, results)
}

func runSuiteOnce(t testing.TB, results, url string, args []string) {
	t.Helper()
	suite := nodeCommand(t, filepath.Join(packagesDir, "conformance/dist/index.js"),
		append([]string{"server", "--url", url, "--output-dir", results}, args...)...)
	start(t, "suite", suite).awaitExit(t, suiteRunWithin)
}

// resultDir is how the suite names a scenario's results: by scenario and time.
var resultDir = regexp.MustCompile(`^server-(.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z$`)

func readVerdicts(t testing.TB, results string) []check {
	t.Helper()
	dirs, err := os.ReadDir(results)
	if err != nil {
		t.Fatal(err)
	}
	var all []check
	for _, dir := range dirs {
		parts := resultDir.FindStringSubmatch(dir.Name())
		if parts == nil {
			t.Fatalf("the suite left %s, which is no scenario's results", dir.Name())
		}
		all = append(all, readChecks(t, parts[1], filepath.Join(results, dir.Name(), "checks.json"))...)
	}
	slices.SortStableFunc(all, func(a, b check) int { return strings.Compare(a.Scenario, b.Scenario) })
	return all
}

func readChecks(t testing.TB, scenario, path string) []check {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var checks []check
	if err := json.Unmarshal(content, &checks); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for i := range checks {
		checks[i].Scenario = scenario
	}
	return checks
}
