package integration

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// series is one line of the Prometheus text format.
type series struct {
	name   string
	labels string // as written, without the braces
	value  float64
}

var seriesLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$`)

// parseSeries reads a page of metrics. The test fails for a line that is none.
func parseSeries(t testing.TB, text string) []series {
	t.Helper()
	var all []series
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		parts := seriesLine.FindStringSubmatch(line)
		if parts == nil {
			t.Fatalf("/metrics has the line %q", line)
		}
		value, err := strconv.ParseFloat(parts[3], 64)
		if err != nil {
			t.Fatalf("/metrics has the line %q: %v", line, err)
		}
		all = append(all, series{name: parts[1], labels: parts[2], value: value})
	}
	return all
}

func sumSeries(t testing.TB, text, name string, labels ...string) float64 {
	t.Helper()
	sum := 0.0
	for _, s := range parseSeries(t, text) {
		if s.name == name && s.has(labels) {
			sum += s.value
		}
	}
	return sum
}

func (s series) has(labels []string) bool {
	for _, label := range labels {
		if !strings.Contains(","+s.labels+",", ","+label+",") {
			return false
		}
	}
	return true
}
