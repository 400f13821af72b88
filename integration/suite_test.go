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

	// args are the suite's command line, without the URL and the version.
	args []string

	// version is the --spec-version of the run; none for scenarios of an extension.
	version string

	// prefix is what the names of the set's scenarios begin with; others of the run do not count.
	prefix string
}

func (s scenarioSet) counts(scenario string) bool { return strings.HasPrefix(scenario, s.prefix) }

// only is the set's one scenario of that name.
func (s scenarioSet) only(scenario string) scenarioSet {
	s.args = []string{"--scenario", scenario}
	return s
}

// tasksSet is the suite's scenarios of the Tasks extension, which it counts among the pending
// ones: to run these costs less than to start the suite for each of the ten. They take no
// --spec-version: with one, the suite skips them and exits with 0.
func tasksSet(name string) scenarioSet {
	return scenarioSet{name: name, args: []string{"--suite", "pending"}, prefix: "tasks-"}
}

func coreSet(name, version string) scenarioSet {
	return scenarioSet{name: name, version: version, args: []string{"--suite", "all"}}
}

// suiteRunWithin bounds a run of the suite, which gives each of its scenarios 30 s. It is within the time that `make test` has.
const suiteRunWithin = 9 * time.Minute

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
	args := append([]string{"server", "--url", url, "--output-dir", results}, set.args...)
	if set.version != "" {
		args = append(args, "--spec-version", set.version)
	}
	suite := nodeCommand(t, filepath.Join(packagesDir, "conformance/dist/index.js"), args...)
	start(t, "suite", suite).awaitExit(t, suiteRunWithin)
	return readVerdicts(t, set, results)
}

// resultDir is how the suite names a scenario's results: by scenario and time.
var resultDir = regexp.MustCompile(`^server-(.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z$`)

func readVerdicts(t testing.TB, set scenarioSet, results string) []check {
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
		if set.counts(parts[1]) {
			all = append(all, readChecks(t, parts[1], filepath.Join(results, dir.Name(), "checks.json"))...)
		}
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
