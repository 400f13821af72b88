//go:build e2e

package integration

import (
	"slices"
	"strings"
	"testing"

	"berth/internal/probe"
)

// What published servers hold by themselves, the probe must not call lost.
func TestProbeFindsNothingLostAtOnePublishedServer(t *testing.T) {
	t.Parallel()
	servers := []struct {
		name  string
		fleet func(t testing.TB) fleet
		args  []string
		asked map[string][]string // by revision, checks that must have been made
	}{
		{"tasks-server, JSON", func(t testing.TB) fleet { return tasksFleet(t, 1, jsonAnswers) }, longTask,
			map[string][]string{modernRevision: {"tasks", "polls", "cancels", "listened", "notified"}}},
		{"tasks-server, events", func(t testing.TB) fleet { return tasksFleet(t, 1, sseAnswers) }, longTask,
			map[string][]string{modernRevision: {"tasks", "polls", "cancels", "listened", "notified"}}},
		{"server-everything", func(t testing.TB) fleet { return everythingFleet(t, 1) },
			[]string{"--tool", "simulate-research-query", "--args", `{"topic":"berths","ambiguous":false}`},
			map[string][]string{legacyRevision: {"sessions", "streams", "tasks", "polls", "session ends"}}},
		{"go-sdk, taskless", func(t testing.TB) fleet { return goFleet(t, 1, true) }, nil,
			map[string][]string{legacyRevision: {"sessions", "streams", "session ends"}}},
	}
	for _, s := range servers {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			got := runProbe(t, s.fleet(t)[0].url(), s.args...)
			if got.code != 0 || got.Verdict != probe.Clean || got.Left != (probe.Left{}) {
				t.Errorf("got exit code %d, %v (%s), left %+v, want 0, clean and nothing", got.code, got.Verdict, got.Reason, got.Left)
			}
			for revision, names := range s.asked {
				for _, name := range names {
					if c := got.check(revision, name); c.Asked == 0 {
						t.Errorf("%s %s: not checked: %+v", revision, name, got.Skipped)
					}
				}
			}
		})
	}
}

// What nginx and a round robin do to subscriptions, berth does not.
func TestProbeFindsNothingLostBehindTwoBerths(t *testing.T) {
	t.Parallel()
	pair := startPair(t, tasksFleet(t, 3, jsonAnswers))
	got := runProbe(t, pair.url, slices.Concat(longTask, []string{"--second", pair.berths[1].url()})...)
	if got.code != 0 || got.Verdict != probe.Clean {
		t.Errorf("got exit code %d, %v (%s), want 0 and clean", got.code, got.Verdict, got.Reason)
	}
	for name, asked := range map[string]int{"polls": 30, "cancels": 10, "listened": 15, "notified": 5, "second address": 10} {
		if c := got.check(modernRevision, name); c.Asked != asked {
			t.Errorf("got %+v, want %d asked", c, asked)
		}
	}
}

// A stream lands at one instance, which tells of its own tasks only; and nginx holds it
// back unless told otherwise.
func TestProbeSeesWhatNginxDoesToSubscriptions(t *testing.T) {
	t.Parallel()
	for proxying, want := range map[string]string{
		"":                     "hold streams back",
		"proxy_buffering off;": "of 5 tasks acknowledged",
	} {
		t.Run(proxying, func(t *testing.T) {
			t.Parallel()
			got := runProbe(t, startNginx(t, tasksFleet(t, 3, jsonAnswers), "", proxying), longTask...)
			c := got.check(modernRevision, "listened")
			if got.code != 1 || c.Lost == 0 || !strings.Contains(c.Example, want) {
				t.Errorf("got exit code %d and %+v, want 1 and an example with %q", got.code, c, want)
			}
		})
	}
}

// Servers that do not tell callers apart show everything to everybody; berth in front,
// told who calls, does not.
func TestProbeSeesWhetherPrincipalsAreKeptApart(t *testing.T) {
	t.Parallel()
	two := slices.Concat(longTask, []string{"--principal", "X-User: alice", "--principal", "X-User: robert"})
	f := startLocalFleet(t, nil)
	open := runProbe(t, f.fleet[0].url(), two...)
	if task, session := open.check(modernRevision, "other principal"), open.check(legacyRevision, "other principal"); open.code != 1 || task.Leaked == 0 || session.Leaked == 0 {
		t.Errorf("directly: got exit code %d, %+v and %+v, want 1 and leaks", open.code, task, session)
	}
	told := startBerth(t, f.fleet, "--config", configFile(t, "[auth]\nprincipal = \"header:X-User\"\n"))
	kept := runProbe(t, told.url(), two...)
	if task, session := kept.check(modernRevision, "other principal"), kept.check(legacyRevision, "other principal"); kept.code != 0 || task.Asked == 0 || session.Asked == 0 {
		t.Errorf("through berth: got exit code %d, %+v and %+v, want 0 and both asked for", kept.code, task, session)
	}
}
