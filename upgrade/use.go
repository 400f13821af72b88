package upgrade

import "berth/upgrade/ledger"

// Kept is what tasks keep that this process counts, until they expire.
func (t *Tasks) Kept() ledger.Usage { return t.ledger.Quota.Total() }

// RefusedBy is how often bounds have refused calls, outcomes and answers; the words are those of
// berth.upgrade.refused.
func (t *Tasks) RefusedBy(bounds ...string) int64 { return t.runner.Metrics.RefusedBy(bounds...) }
