package integration

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func goldenPath(set scenarioSet) string {
	return filepath.Join("testdata", "golden", set.name+".txt")
}

// writeGolden keeps verdicts as what a run without berth gives.
func writeGolden(t testing.TB, set scenarioSet, verdicts []check) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(goldenPath(set)), 0o755); err != nil {
		t.Fatal(err)
	}
	content := strings.Join(verdictLines(verdicts), "\n") + "\n"
	if err := os.WriteFile(goldenPath(set), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// wantGolden fails the test for every verdict that differs from the golden ones, or
// is missing, or is too many.
func wantGolden(t testing.TB, set scenarioSet, verdicts []check) {
	t.Helper()
	want := goldenLines(t, set)
	got := verdictLines(verdicts)
	for _, line := range without(want, got) {
		t.Errorf("verdict missing:    %s", line)
	}
	for _, line := range without(got, want) {
		t.Errorf("verdict unexpected: %s%s", line, complaint(verdicts, line))
	}
}

// goldenLines are the verdicts that are kept of a set.
func goldenLines(t testing.TB, set scenarioSet) []string {
	t.Helper()
	content, err := os.ReadFile(goldenPath(set))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
}

func verdictLines(verdicts []check) []string {
	lines := make([]string, 0, len(verdicts))
	for _, verdict := range verdicts {
		lines = append(lines, verdict.String())
	}
	return lines
}

// without is the lines of a that b lacks, counting repeated ones.
func without(a, b []string) []string {
	rest := slices.Clone(b)
	var left []string
	for _, line := range a {
		if i := slices.Index(rest, line); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
			continue
		}
		left = append(left, line)
	}
	return left
}

// complaint is what the suite said about a verdict, if anything.
func complaint(verdicts []check, line string) string {
	for _, verdict := range verdicts {
		if verdict.String() == line && verdict.ErrorMessage != "" {
			return "\n\t" + verdict.ErrorMessage
		}
	}
	return ""
}
