// Package upgrade turns plain tool calls into tasks. An operator's rules name the tools;
// berth keeps the call to one of them, and its client is given a task of the Tasks
// extension (2026-07-28) in place of the answer.
//
// # The life of a task
//
//	accepted, queued ──dispatch──▶ dispatched ──finish──▶ completed, failed
//	       ▲                           │
//	       └──answer── input_required ◀┘ pause
//
// and from each of them to cancelled, or, when its holder has died, to failed. What is
// queued needs a place at an upstream before its dispatch. A pause that asks for nothing
// leads back at once, as does a holder's death where another berth may send the call again.
//
// Transition is the only place where a task changes; a change is stored by
// compare-and-swap, under an op whose id makes a repetition harmless. The record is in the
// store; the call and its outcome are blobs beside it, so that polls of a working task
// never read them.
//
// One process holds the call of a task: it has it recorded before the handle goes out, it
// makes the dispatch durable before the first byte goes upstream, and it stores the
// outcome before anybody is told of it. A task that waits for input has no holder; the
// berth that takes the last answer goes on with it.
//
// # What survives what
//
//   - A holder proves that it lives by one lease a process. Where the lease is missing on
//     two ticks in a row, over a connection that is well, any other berth sees to what the
//     holder listed: a call that was sent fails as holder_lost, what was not is gone on
//     with by whoever has the credentials. A holder that comes back finds that out, ends
//     its calls, and what they still return is dropped.
//   - While the store is away calls go on, and outcomes wait in memory. When it is back,
//     holders compare what they hold with what stands, and put back what is lost; until
//     they had the time for it, a task that is not found is not called unknown.
//   - A step whose acknowledgement is lost is taken again.
//   - Nothing depends on a message between berths: waiters look at the store as well.
//
// # What does not
//
// A tool that ran and whose holder dies before the outcome is stored: its task fails, and
// says that the tool may have run. Records that wait for input when a store is flushed:
// nobody holds them. What a fail-over loses of tasks that have ended. A call that waits at
// a berth which alone is cut off from the store for longer than its lease lives, if the
// store is flushed before that ends: another berth may have sent it, and what shows that
// is gone.
//
// # Where things are
//
// rule.go, rules.go, glob.go, policy.go: which tools, on what terms. task.go,
// transition.go: the record. clock.go: its times. id.go: names that nobody can guess and
// no look-up is needed for. records.go, call.go, packed.go, lists.go: what is in the
// store. tasks.go, create.go, idempotency.go: what clients ask for. hold.go, aside.go,
// unstored.go, round.go, line.go, listen.go, asks.go, resume.go, session.go, transitionlegacy.go, place.go, queues.go, progress.go, follow.go, follower.go,
// failure.go: the held call. update.go, cancel.go, custody.go, unsure.go: who decides
// about it. run.go, lease.go, orphan.go, putback.go, trust.go, backlog.go, hub.go,
// watcher.go: berths among each other. drain.go: the end of the process. extension.go: how
// a client sees it. metrics.go: how an operator does.
package upgrade
