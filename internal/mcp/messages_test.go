package mcp

import "testing"

func TestSeverityOrdersLevels(t *testing.T) {
	last := -1
	for _, level := range []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"} {
		if s := Severity(LogLevelOf([]byte(`{"params":{"level":"` + level + `"}}`))); s <= last {
			t.Errorf("%s is %d, after %d", level, s, last)
		} else {
			last = s
		}
	}
	if Severity("") != -1 || Severity("Info") != -1 || LogLevelOf([]byte(`{"params":{"level":1}}`)) != "" {
		t.Error("what is no level is one")
	}
}
