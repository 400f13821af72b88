// Package upgrade turns plain tool calls into tasks. An operator's rules name the tools;
// berth keeps the call to one of them, and its client is given a task in place of the
// answer: one of the Tasks extension (2026-07-28), or of the core (2025-11-25). Records,
// held calls and promises are the same in both.
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
// A call of the legacy era (transitionlegacy.go) is one round, held in its client's own
// session. What its tool asks it asks while it runs, so that the task stays dispatched, and
// keeps its holder; clients of its dialect are told input_required. How far the call's
// stream has come is in the record too: from there it is resumed when it breaks, or its
// holder dies.
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
//     holder listed: what was not sent is gone on with by whoever has the credentials, and
//     so is a call whose stream can be resumed; any other that was sent fails as
//     holder_lost. A holder that comes back finds that out, ends its calls, and what they
//     still return is dropped.
//   - While the store is away calls go on, and outcomes wait in memory. When it is back,
//     holders compare what they hold with what stands, and put back what is lost; until
//     they had the time for it, a task that is not found is not called unknown.
//   - A step whose acknowledgement is lost is taken again.
//   - Nothing depends on a message between berths: waiters look at the store as well.
//
// # What does not
//
// A tool that ran and whose holder dies before the outcome is stored: its task fails, and
// says that the tool may have run, unless the server replays the call's stream. Records that wait for input when a store is flushed:
// nobody holds them. What a fail-over loses of tasks that have ended. A call that waits at
// a berth which alone is cut off from the store for longer than its lease lives, if the
// store is flushed before that ends: another berth may have sent it, and what shows that
// is gone.
//
// # Where things are
//
// rule.go, rules.go, glob.go, policy.go: which tools, on what terms. task.go,
// transition.go, transitionlegacy.go: the record. clock.go: its times. id.go: names that
// nobody can guess and no look-up is needed for. records.go, call.go, packed.go, lists.go:
// what is in the store. tasks.go, create.go, idempotency.go: what clients ask for. hold.go,
// round.go, progress.go, aside.go, unstored.go, place.go, queues.go, failure.go: the held
// call. follow.go, follower.go: one whose server makes a task of it. line.go: how it gets
// to its server. listen.go, asks.go, resume.go: one of the legacy era. session.go,
// openask.go: the sessions that these live in, and what is asked there. update.go,
// cancel.go, custody.go, unsure.go: who decides about a task. run.go, lease.go, orphan.go,
// putback.go, trust.go, backlog.go, hub.go, watcher.go: berths among each other. drain.go:
// the end of the process. extension.go, core.go: how a client sees a task. metrics.go: how
// an operator does.
package upgrade
