//go:build e2e

package integration

import "testing"

// However it is reached.
func TestLegacyServerPassesTheModernCoreHoweverItIsReached(t *testing.T) {
	eachReach(t, func(t *testing.T, r reach) {
		bridgedFrom(t, r)
	})
}

func TestLegacyServerPassesTheTaskScenariosHoweverItIsReached(t *testing.T) {
	eachReach(t, func(t *testing.T, r reach) {
		r.passesTaskScenarios(t)
	})
}

// The fixture is a sound legacy server: what it fails through berth, berth fails.
func TestLegacyFixturePassesTheLegacySuite(t *testing.T) {
	t.Parallel()
	site := overResumable.startLegacy(t, 1)
	verdicts := runSuite(t, coreSet("core-legacy", "2025-11-25"), site.fleet[0].url())
	logVerdicts(t, verdicts)
	for _, v := range verdicts {
		if v.Status == "FAILURE" || v.Status == "WARNING" {
			t.Errorf("%s: got %s %s", v.key(), v.Status, v.ErrorMessage)
		}
	}
}
