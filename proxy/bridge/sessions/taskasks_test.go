package sessions

import (
	"testing"
	"time"

	"berth/proxy/bridge/legacy"
)

// What is asked of nobody is a task's where that alone can be meant: none whose end was told, and none beside what another berth knows of. Of several
// whose callers share the session none is.
func TestAQuestionIsOfTheOneTaskThatLives(t *testing.T) {
	registry := NewRegistry(func() Settings { return Settings{Most: 1, Isolation: ForAll} }, nil)
	soon := time.Now().Add(time.Minute)
	for name, tc := range map[string]struct {
		tasks, told []string
		others      time.Duration
		want        string
	}{
		"none":                     {},
		"one":                      {tasks: []string{"a"}, want: "a"},
		"several":                  {tasks: []string{"a", "b"}},
		"one beside another's end": {tasks: []string{"a", "b"}, told: []string{"b"}, want: "a"},
		"others'":                  {others: time.Minute},
		"one beside others'":       {tasks: []string{"a"}, others: time.Minute},
	} {
		for range 20 { // a map has no order
			l := registry.Adopt(legacy.Session{}, 0, tc.others)
			for _, core := range tc.tasks {
				l.KeepTask(core, soon)
			}
			for _, core := range tc.told {
				l.tasks[core] = keptTask{until: soon, told: true}
			}
			if got := l.askingTask(t.Context(), nil); got != tc.want {
				t.Fatalf("%s: got %q, want %q", name, got, tc.want)
			}
		}
	}
}
