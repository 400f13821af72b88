package probe

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// Programs read reports: what they hold is written down.
func TestDocsNameAllThatAReportHolds(t *testing.T) {
	text, err := os.ReadFile("../../docs/probe.md")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{
		checkTasks, checkPolls, checkResults, checkCancels, checkLists, checkListened, checkNotified, checkSessions,
		checkStreams, checkEnds, checkSecond, checkForeign, checkKept, string(Lost), string(Clean), string(Unknown),
	}
	for _, holds := range []any{Report{}, Check{}, Skip{}, Left{}} {
		for field := range reflect.TypeOf(holds).Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	for _, name := range names {
		if !strings.Contains(string(text), "`"+name+"`") && !strings.Contains(string(text), "`"+name+"[]`") {
			t.Errorf("docs/probe.md lacks `%s`", name)
		}
	}
}
