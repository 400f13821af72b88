// Package relay passes an exchange on from one berth of a deployment to another, over the
// store that they share: some things live in one process only, and a request about one may
// reach any. No berth listens for another, or has an address.
//
// # What it promises
//
//   - A request is executed at most once, and by the berth that it was passed to: taking it is a
//     compare-and-swap of its record, and is remembered for longer than an offer lives. It is not
//     executed once its sender has taken it back or, if the sender could not, the offer has expired
//     by the store's clock.
//   - A failed Pass says by [exchange.SendError] whether the request may have been executed.
//   - An answer comes in the order and in the bytes that it was given, its beginning before its end
//     is there: at most [window] parts are in the store, and who answers waits for who reads. An answer
//     that breaks off is an error, never a shorter answer.
//   - To close an answer, or to end the context of Pass, ends the context of who answers, within a
//     second or so. To be called off by the loss of a berth takes some two lives of a lease.
//   - The store sees neither requests nor answers in plain, unless it keeps the deployment's secret
//     as well ([seal.Keyring.Given]). It sees names of berths, how much is passed on and when.
//   - An outage of the store is waited out for as long as a lease lives.
//   - Nothing is left in the store but since when it has kept what it holds: what cannot be removed at once is removed later, and what a berth
//     that died has left expires, [exchangeLife] after its last sign of life.
//   - Notices are hints. Both sides look by themselves, each second at first, and each five seconds
//     once nothing has come for a while.
//
// # What it does not promise
//
//   - Exchanges do not outlive the store's memory: who had one under way when the store was flushed
//     gets ErrLost. Until the addressee has put its lease back, who passes it another one waits.
//   - An answer is kept for who reads it for [exchangeLife]: a longer pause loses it, with an error.
//   - Where the store loses writes that it has acknowledged, a request may have been executed that its
//     sender takes for taken back.
//   - Who can write to the store is not kept from dropping requests, nor from repeating one within
//     the life of its seal.
//
// # What it costs
//
// An idle mailbox is a watch, and each five seconds a write and a look at a list; while it answers
// requests, a look a second. A short exchange is some twelve operations, of which nine follow each
// other: half a millisecond with Redis on the same machine. Each further part is four, and one for
// each [ackEvery] of them. An answer that says nothing costs two reads each five seconds, and a
// write a minute.
package relay
