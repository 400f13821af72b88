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
// A call to an upstream of the legacy era stays dispatched while its upstream asks: what is
// open then is in the record, and its clients see input_required. The client's response goes
// to the upstream in the session, past the holder; whoever passed it on settles the ask, the
// upstream may withdraw it. An ask, and the event that it came with, become durable in one
// step: so the stream of such a call can be resumed from there when it breaks, or when
// another berth adopts the call, and brings what nobody has acted on yet. The task stays
// dispatched all the while, in the same round. What cannot be resumed fails, or is sent
// again from nothing where the rule says so.
//
// One process holds the call of a task: it has it recorded before the handle goes out, and
// noted that the handle does; it makes the dispatch durable before the first byte goes
// upstream, and it stores the outcome before anybody is told of it. A task that waits for
// input between two rounds has no holder; the berth that takes the last answer goes on with
// it.
//
// A call may live in a client's session, at the upstream that has it. A client that ends a
// session while calls are held in it is told so at once: a mark has every berth refuse the
// session, holders refuse what their upstreams ask, and the one whose call is the last to be
// over ends the session at the upstream. That is done at least once, and not before.
//
// # What survives what
//
//   - A holder proves that it lives by one lease a process. Where the lease is missing on
//     two beats in a row, over a connection that is well, any other berth sees to what the
//     holder listed: what was not sent is gone on with by whoever has the credentials, and
//     so is a call whose stream can be resumed; any other that was sent fails as
//     holder_lost. A holder that comes back finds that out, ends its calls, and what they
//     still return is dropped.
//     A record that has fallen back, and names a holder that lives and does not hold it, has the task end once a client has asked for it.
//     Of a task that was being made as the store was flushed no list may tell: it is seen to
//     once a client has asked for it.
//   - While the store is away calls go on, and outcomes wait in memory. When it is back,
//     holders compare what they hold with what stands, and put back what is lost; until
//     they had the time for it, a task that is not found is not called unknown. Who stood still
//     meanwhile, for longer than a lease lives, puts back what was flushed before its own ran out.
//   - A step whose acknowledgement is lost is taken again.
//   - Nothing depends on a message between berths: waiters look at the store as well.
//
// # What does not
//
// A tool that ran and whose holder dies before the outcome is stored, without a stream to
// resume: its task fails, and says that the tool may have run. That a session was ended,
// and which asks were settled, when a store is flushed: the session idles out at its
// upstream, and a client may be asked once more. Records that wait for input between two
// rounds when a store is flushed: nobody holds them. What a fail-over loses of tasks that
// have ended, unless the berth that ended them remembers it. A call that waits at a berth which alone is cut off from the store for longer
// than its lease lives, if the store is flushed before that ends: another berth may have
// sent it, and what shows that is gone.
//
// # Where things are
//
// Arrows run down: upgrade to peers, webhooks and lending, runner, places and metrics, ledger and transport, queues and quota, task.
//
//	tasks.go, drain.go                 all parts together: opened, run, changed and drained
//	face.go                            what proxies need of below
//	create.go, idempotency.go          tasks that are made, by their keys at most once
//	creating.go, intime.go             how many at once, and how long the store may take for one
//	outlook.go                         what would refuse one, before it is tried
//	steps.go, moot.go, vigil.go,
//	sessions.go                        what clients do to them, and to sessions that they live in
//	reader.go, view.go                 how clients see them, in both dialects
//	records.go                         where a record is found
//	queues.go, overview.go             what operators see
//	orders.go, again.go                what operators have done
//	polls.go, use.go                   what is counted of them in this process
//	task/                              the record, its steps, rules, ids, failures
//	ledger/                            what the store holds
//	queues/, places/                   who waits for a place at an upstream, and who looks for one
//	quota/                             what tasks may keep
//	lending/                           large texts that clients are being given
//	runner/, transport/                held calls, and how they reach upstreams
//	metrics/                           what operators see of them
//	peers/                             what berths do for each other
//	webhooks/                          receivers that are told how tasks fare
package upgrade
