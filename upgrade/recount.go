package upgrade

import "berth/upgrade/task"

// InMemory is how many bytes of what tasks keep are in this process's memory, those that
// clients are being given included.
func (t *Tasks) InMemory() int64 {
	all, lent := t.ledger.Quota.Total(), t.lending.total()
	if t.ledger.Store.Shared() || t.ledger.Store.Durable() {
		return all.Held + lent
	}
	return all.Bytes + all.Held + lent
}

// KeepsMuch reports whether the tasks of a caller, as Creation names it, keep at least an even
// share of what all keep, or as much of what clients are being given.
func (t *Tasks) KeepsMuch(caller string) bool {
	name := task.Digest(caller)
	return t.ledger.Quota.AboveEven(name) || t.lending.aboveEven(name)
}
