//go:build linux

package main

import (
	"testing"

	"berth/integration/bench/contender"
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
	if !o.wants(contender.Contender{Product: contender.Nginx}) || o.wants(contender.Contender{Product: contender.HAProxy}) {
		t.Error("the proxies that were named are not those that are wanted")
	}
}

func TestOptionsThatMeanNothingAreRefused(t *testing.T) {
	for _, args := range [][]string{{"--rounds=0"}, {"--duration=0s"}, {"--rate=-1"}, {"--streams=0"}, {"more"}, {"--unknown"}} {
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

// Whatever is compared stands beside what it is compared with.
func TestEachKindHasItsYardsticks(t *testing.T) {
	for _, k := range kinds() {
		has := make(map[string]bool)
		for _, c := range k.contenders {
			if has[c.Name()] {
				t.Errorf("%s: %s twice", k.name, c.Name())
			}
			has[c.Name()] = true
		}
		for _, name := range []string{contender.Direct, contender.ReverseProxy, contender.Nginx, contender.HAProxy, contender.Berth} {
			if !has[name] {
				t.Errorf("%s: no %s", k.name, name)
			}
		}
	}
}
