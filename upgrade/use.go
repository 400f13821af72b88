package upgrade

import (
	"berth/upgrade/ledger"
	"berth/upgrade/lending"
	"berth/upgrade/metrics"
	"berth/upgrade/quota"
	"berth/upgrade/task"
)

// Use is what tasks take of this process, and what bounds have kept from them.
type Use struct {
	ledger  *ledger.Ledger
	lending *lending.Lending
	metrics *metrics.Metrics
}

// InMemory is how many bytes of what tasks keep are in this process's memory, those that
// clients are being given included.
func (u *Use) InMemory() int64 {
	all, lent := u.ledger.Quota.Total(), u.lending.Total()
	if u.ledger.Store.Shared() || u.ledger.Store.Durable() {
		return all.Held + lent
	}
	return all.Bytes + all.Held + lent
}

// KeepsMuch reports whether the tasks of a caller, as Creation names it, keep at least an even
// share of what all keep, or as much of what clients are being given.
func (u *Use) KeepsMuch(caller string) bool {
	name := task.Digest(caller)
	return u.ledger.Quota.AboveEven(name) || u.lending.AboveEven(name)
}

// Kept is what tasks keep that this process counts, until they expire.
func (u *Use) Kept() quota.Usage { return u.ledger.Quota.Total() }

// RefusedBy is how often bounds have refused calls, outcomes and answers; the words are those of
// berth.upgrade.refused.
func (u *Use) RefusedBy(bounds ...string) int64 { return u.metrics.RefusedBy(bounds...) }
