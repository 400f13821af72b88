package integration

import (
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/storage/redistest"
)

// oneRule is a file that leaves the fleet to the flags.
const oneRule = "[[upgrade]]\ntools = [\"generate_*\"]\npool = \"default\"\n"

// A file of rules alone serves the fleet of the flags, and berth says at the start what
// the store will not keep of the tasks: row D13 of an evicting Redis, memory: in general.
func TestRulesAloneServeTheFleetOfFlags(t *testing.T) {
	t.Parallel()
	fleet := startLocalFleet(t, nil)
	keeping := redistest.Start(t)
	evicting := redistest.Start(t, "--maxmemory-policy", "allkeys-lru")
	const forgets, drops = "a restart forgets them and their results", "calls are not upgraded: "
	for _, tt := range []struct {
		name, store  string
		says, denies string
	}{
		{"memory", "memory:", forgets, drops},
		{"a Redis that evicts", evicting.URL(), drops, forgets},
		{"a Redis that keeps", keeping.URL(), `"calls of these tools become tasks"`, forgets},
	} {
		b := startBerth(t, fleet.fleet, "--store", tt.store, "--config", configFile(t, oneRule), "--upgrade", "slow")
		newModernClient(t).create(t, b.url(), 600)
		if !await(t, readyWithin, func() bool { return strings.Contains(b.output.String(), tt.says) }) {
			t.Errorf("%s: got\n%s\nwant %q said", tt.name, &b.output, tt.says)
		}
		for _, tools := range []string{`"tools":["generate_*"]`, `"tools":["slow"]`} {
			if strings.Count(b.output.String(), tools) != 1 {
				t.Errorf("%s: got\n%s\nwant %s once", tt.name, &b.output, tools)
			}
		}
		if strings.Contains(b.output.String(), tt.denies) {
			t.Errorf("%s: got\n%s\nwant not %q", tt.name, &b.output, tt.denies)
		}
	}
}

// On memory: rules keep less than they promise, which is no reason to fail.
func TestOnlineCheckOfRules(t *testing.T) {
	t.Parallel()
	fleet := startLocalFleet(t, nil)
	checkedOnline(t, storeAt("memory:")+oneRule, fleet.fleet, nil, []string{"upgrade: warning: |a restart forgets them and their results"})
	inFile := storeAt("file:" + filepath.Join(t.TempDir(), "berth.db"))
	checkedOnline(t, inFile+oneRule, fleet.fleet, nil, nil)
}

// A file is judged by itself: rules are counted, and rules alone lack their fleet.
func TestCheckKnowsRules(t *testing.T) {
	t.Parallel()
	const fleet = "[[pools]]\n[[pools.upstreams]]\nurl = \"http://127.0.0.1:1/mcp\"\n"
	if got := runBerth(t, "check", configFile(t, oneRule+fleet)); got.code != 0 || !strings.Contains(got.stdout, "1 upstreams, 1 upgrade rules") {
		t.Errorf("got %+v, want ok with the rule counted", got)
	}
	if got := runBerth(t, "check", configFile(t, oneRule)); got.code != 1 || !strings.Contains(got.stderr, ": pools: ") || strings.Contains(got.stderr, "upgrade[") {
		t.Errorf("got %+v, want pools missing and no other fault", got)
	}
	wrong := configFile(t, fleet+"[[upgrade]]\ntools = [\"a\", \"\"]\non_orphan = \"ignore\"\n")
	got := runBerth(t, "check", wrong)
	wantLines(t, got.stderr, []string{wrong + ":5: upgrade[0].tools[1]: ", wrong + ":6: upgrade[0].on_orphan: "})
}
