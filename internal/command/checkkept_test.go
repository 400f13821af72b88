package command

import (
	"strings"
	"testing"

	"berth/internal/config"
)

// What tasks may keep is told of where a call may be larger than that: it would be refused for good.
func TestKeptThatLargeCallsDoNotFitIntoIsToldOf(t *testing.T) {
	for kept, told := range map[config.Size]bool{4 * config.MiB: true, 10 * config.MiB: true, 11 * config.MiB: false, config.GiB: false} {
		cfg := config.Default()
		cfg.Limits.Kept = kept
		if found := warnings(cfg); len(found) > 0 {
			t.Errorf("without rules: %v", found)
		}
		cfg.Upgrades = []config.Upgrade{config.DefaultUpgrade()}
		found := warnings(cfg)
		if len(found) > 0 != told || told && (!found[0].Warning || found[0].Key != "limits.kept" || !strings.Contains(found[0].Text, "429")) {
			t.Errorf("%v: %v", kept, found)
		}
	}
}
