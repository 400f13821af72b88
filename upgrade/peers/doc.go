// Package peers is what the berths of a deployment do for each other, and each for what a
// store has lost.
//
// It promises that what a holder left which is gone is seen to by somebody: adopted by a berth
// that can go on with it, or ended with what is known of it; and that what this process holds
// is put back where the store has lost it. A holder counts as gone after two beats without a
// lease, over a store that has served for as long as a lease lives. A lease that its holder renews no more is ended, though it stands
// by the store's clock. What two berths do to one
// task the record's compare-and-swap sorts out: nothing here needs to be done by one alone.
// Nothing depends on one message between berths: they make it sooner, or are said again.
//
// A store of several servers may lose what one of them held alone. Whoever is asked for a task whose record names a holder that lives
// tells that holder with each beat: it ends what it does not hold, as it did before if it remembers. Nobody runs again what it has let go of
// once, by a record that is older than what it knew then; where another berth may hold the call, that has two beats to put the
// record right.
//
// A holder that goes hands over what another can go on with, and need not be found gone for that.
//
// What it costs: five goroutines a process, and a beat three times in the life of a lease.
//
//	peers.go, run.go   the loops: what others tell, the lease, the beat
//	reaper.go          holders that are gone
//	adopt.go           what becomes of what they left
//	handover.go        what a berth leaves that goes, and who takes it over
//	reconcile.go       what is listed as this process's, and what it holds
//	strays.go          what others take for this process's, and what has fallen back behind what it knew
//	told.go            what it was told of, and has not seen to
package peers
