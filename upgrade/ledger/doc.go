// Package ledger is what a deployment's store holds of upgraded tasks, and what one process
// knows about that store.
//
// It promises that a change of a record is stored by compare-and-swap under an op whose
// repetition does no harm, that what is listed only says where to look while the record
// decides, and that "unknown" is said of a task only when every holder had the time to put
// back what the store has lost. It never sends anything upstream, and holds no call: it has no
// goroutine of its own.
//
// What it costs: a read or a step is one operation at the store, an outcome or a call a blob
// beside the record, so that polls of a working task never read them. To make a task is one trip to a store that
// is one server, whatever is listed, and so is its end; elsewhere each list is an operation more. Where no other process
// sees the store, leases, epochs and rights to tell cost nothing.
//
//	ledger.go, live.go                   what a task has in the store, from its making to its end
//	making.go, op.go, amid.go, steps.go  what goes to the store together with a record, or with a step
//	records.go, call.go, oncekeys.go     records with their outcomes, calls, idempotency keys
//	lists.go, sessions.go, asks.go       what can be found without a task's id
//	kept.go                              and is held by nobody
//	overlooked.go                        what cannot, and is met by its id
//	strays.go                            what may be held by nobody, though its holder lives
//	epoch.go, absence.go, awaited.go     what the store is trusted with
//	word.go                              on another's word
//	lease.go, silences.go                who lives, and who is taken for alive by the store's clock alone
//	delivery.go, clock.go                who tells a client, and the time
//	notices.go, watcher.go               who is woken by what
//	backlog.go, pending.go               what waits for the store, or is not known to be in it
//	outbox.go, tries.go                  what receivers are yet to be told
package ledger
