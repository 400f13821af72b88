//go:build linux

package main

import (
	"slices"
	"testing"

	"berth/integration/bench/contender"
	"berth/integration/bench/goals"
)

func TestQuickIsThreeRoundsOfTwoKinds(t *testing.T) {
	o, err := parse([]string{"--quick", "--proxies=nginx,berth"})
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := o.chosen(kinds())
	if err != nil || len(chosen) != 2 || o.rounds != 3 {
		t.Errorf("got %d kinds, %d rounds, %v, want 2, 3", len(chosen), o.rounds, err)
	}
	if !o.wants(chosen[0], nginx) || o.wants(chosen[0], haproxy) || o.wants(chosen[0], watched) {
		t.Error("the proxies that were named are not those that are wanted")
	}
}

func TestOptionsThatMeanNothingAreRefused(t *testing.T) {
	for _, args := range [][]string{{"--rounds=0"}, {"--duration=0s"}, {"--rate=-1"}, {"--streams=0"}, {"more"}, {"--unknown"}, {"--caches"}, {"--caches", "--instructions=tasks/get", "--update"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%v: got no error", args)
		}
	}
	o, err := parse([]string{"--kinds=tasks/get,none"})
	if err != nil {
		t.Fatal(err)
	}
	if chosen, err := o.chosen(kinds()); err == nil {
		t.Errorf("an unknown kind: got %v, want an error", chosen)
	}
}

// What is told of a run must be told of the whole of it.
func TestThePageIsOnlyWrittenWhole(t *testing.T) {
	for _, with := range []string{"--quick", "--goals", "--kinds=tasks/get", "--proxies=berth"} {
		if _, err := parse([]string{"--update", with}); err == nil {
			t.Errorf("%s: got no error", with)
		}
	}
	if o, err := parse([]string{"--update", "--json=x"}); err != nil || !o.update {
		t.Errorf("got %v, want what was asked for", err)
	}
}

func TestNoContenderIsInAKindTwice(t *testing.T) {
	for _, k := range kinds() {
		has := make(map[string]bool)
		for _, c := range k.contenders {
			if has[c.Name()] {
				t.Errorf("%s: %s twice", k.name, c.Name())
			}
			has[c.Name()] = true
		}
	}
}

// A goal whose kind or contender had another name would never be judged.
func TestEachGoalIsAboutWhatIsMeasured(t *testing.T) {
	for _, g := range goals.All() {
		if g.Kind == "" {
			continue
		}
		k, err := named(g.Kind, kinds())
		if err != nil {
			t.Error(err)
		}
		for _, name := range g.Contenders {
			if !slices.ContainsFunc(k.contenders, func(c contender.Contender) bool { return c.Name() == name }) {
				t.Errorf("%s: no %s", g.Kind, name)
			}
		}
	}
}

// With --goals nothing is measured that no goal is about, and all that is.
func TestGoalsAloneLeaveOutTheRest(t *testing.T) {
	o, err := parse([]string{"--goals"})
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, k := range kinds() {
		for _, c := range k.contenders {
			if o.wants(k, c) {
				left++
			}
		}
	}
	tools, err := named("tools/call", kinds())
	if err != nil {
		t.Fatal(err)
	}
	if !o.wants(tools, berth) || !o.wants(tools, nginx) || o.wants(tools, haproxy) || left == 0 {
		t.Errorf("tools/call: berth %v, nginx %v, HAProxy %v, want the first two", o.wants(tools, berth), o.wants(tools, nginx), o.wants(tools, haproxy))
	}
}
