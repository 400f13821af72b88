// Package storage keeps what several berths share: small values, lists of short strings,
// and words from one to the others. One URL, one handle, with a breaker and a health that
// the rest of the process may ask for. [PutBlob] keeps larger values on top of it.
//
// # What it promises
//
//   - [Open] never waits for a server. A store that is away at start heals later
//     without help; so does one that was away for an hour. A file is another matter:
//     it is waited for while another process holds it, read through, and what is
//     wrong with it is Open's error.
//   - Nothing waits for long. An operation that Redis is asked for ends within twice
//     [Options.Timeout] (500 ms by default), whether Redis is frozen, unreachable
//     or behind a link that swallows packets. Once three operations in a row have
//     failed, the breaker opens and the next ones fail at once; if answers were late,
//     once nobody was answered for twice the time-out.
//   - A burst is no outage. As many operations are under way at a server as there are
//     connections for them, less two. The others wait for their turn, eight time-outs at
//     most (2 s by default); where both wait, every other turn is for one that reads. Who
//     waits in vain gets ErrUnavailable, and the breaker hears nothing of it.
//   - The breaker cannot stay open for good: [Store.Run] probes four times a second
//     and closes it within two seconds of the server's return, traffic or not: after
//     three operations that were answered, so that it does not open and close all the
//     time on a machine that is short of processors.
//   - A server that is replaced is left. The master that sentinels name, and the
//     nodes that hold a cluster's slots, are asked for anew with each probe or each
//     connection; redirections within a cluster are followed within the bound of
//     the operation.
//   - A node of a cluster that is away costs its own keys. Each has a breaker.
//   - Unknown is not unavailable. [ErrNotFound] is said only by a server that was
//     asked and has no such key. Everything that keeps the question from being
//     answered is [ErrUnavailable].
//   - A write to file: is answered when it is on the disk, and then outlives the
//     process, however that ends. What the disk gives back is believed only if its
//     checksum is right: damage is an error, at start or to who asks, never a key that
//     is not found. A full disk refuses writes; reads go on.
//   - A write is sent once. What stands is told apart from what was asked for:
//     the version in [Record], and the record that stands on a lost race.
//   - A bound on a list holds, however many ask at once: of any number of Enlists with
//     one bound no more than that many succeed while their members stand. A member that
//     stands keeps its place and its expiry, so an Enlist whose answer was lost can be
//     repeated.
//   - With "replicas:N" ([Options.Durability]) a write that returned no error is at
//     the master and at N of its replicas. So is the record, or the member of a list, that
//     a write found standing, whoever wrote it.
//   - A watcher is told when it may have missed something. That its server is frozen, or
//     cut off, or no longer the one that notices are sent to, it finds out within two
//     seconds, or four times [Options.Timeout] if that is longer, and connects anew at
//     least once a second.
//   - A blob that is found is whole: its head is written last and bears the digest of all
//     its pieces.
//   - [Inspect] finds what would break these promises before anything depends on them,
//     and writes nothing.
//   - The passwords in the URL appear nowhere: not in errors, not in logs, not in
//     [Store.String].
//
// # What it does not promise
//
//   - A caller whose context is cancelled still waits for the answer, or for the
//     time-out: the driver heeds deadlines on its sockets, not cancellations.
//   - A write that ended in ErrUnavailable may have happened. Whoever repeats it
//     compares the bytes that stand with its own; see [Engine].
//   - Redis acknowledges before it syncs, and with "ack" before it replicates: what a
//     fail-over or a crash of the server loses, this package cannot bring back.
//     memory: loses everything with the process.
//   - "replicas:N" is no quorum: reads are the master's alone, and a record that was
//     refused as unreplicated is read like any other until a fail-over loses it.
//     Neither waits Delete, nor a Delist that finds nothing to remove.
//   - No message need arrive. A watcher may hear of a loss seconds after it, and who
//     watches must find out by itself, in the end, what it was not told.
//   - The order of a list is that of the engine's clock: a clock that is set back puts later
//     members before earlier ones.
//   - Of a file whose newest state cannot be read the one before counts, with a warning:
//     the last commit may be lost then. A disk that says that it has written what it
//     has not is beyond this package.
//   - A file belongs to one process at a time. Its lock is the operating system's, which
//     network file systems keep badly or not at all.
//   - A disk that hangs holds a write up for as long as its caller's context.
//   - A key that was deleted or expired and is made anew starts at version 1
//     again. Values whose keys are deleted while others swap them need a nonce.
//   - Redis must run with maxmemory-policy noeviction (or volatile-ttl at the
//     owner's risk): an evicted key is a key that is not found.
//
// # What counts as an outage
//
// The breaker counts what PING would share: no connection, no answer in time, a
// wrong password, a server that is loading or has lost its master. A refusal of one
// command by a server that answers others (memory is full, a read-only replica, too
// few replicas, a missing permission) is ErrUnavailable to its caller and nothing to
// the breaker, so that reads go on while writes are refused. A caller that goes away
// is not counted either; a caller's own deadline that passes is, if it left the server
// the time for an answer. A file has no breaker:
// it is unhealthy from the first write that the disk refuses to the next that it takes,
// and one is tried every half second.
//
// A cluster is healthy while all of its masters are: a node is asked for the state of
// the cluster, since it answers PING even while it refuses every key.
//
// # Keys
//
// An operation touches one key, so nothing crosses the slots of a cluster. A list is one
// key, and the pieces of a blob lie with its head. Keys that are to lie together share a
// hash tag: the part of their name in braces, if the prefix has none. Topics are channels
// with the same prefix, and no keys.
//
// # What it costs
//
// A Get is one GET; every write is one EVALSHA that reads the key and sets it. A
// record is its value and a few bytes of version. In memory: a map entry, a heap
// entry if it expires, and one mutex; each operation also collects at most two
// expired entries, so that a million keys expiring together stall nobody. A probe is
// one PING four times a second; of a cluster, one CLUSTER SLOTS and one CLUSTER INFO
// a master. A list in Redis is a sorted set: about 100 bytes a member beside its name, and one
// EVALSHA to make it, whatever the length of the list; in memory a map entry more than a record, and a binary
// search. Members reads them all. A notice is one PUBLISH, which a cluster passes to all of
// its nodes. A watch is a connection and, while nothing is said, one PUBLISH a second.
// "replicas:N" adds a WAIT in the write's own round trip, and what the
// replicas take to answer the master: at most three fifths of [Options.Timeout].
//
// In a file: about 500 bytes a record of 130, and one sync a write; writers at the same
// time share one (3,800 writes a second alone, 17,000 by 32, on a disk that syncs in
// 0.2 ms). A Get reads the map of the file in memory, 2.5 µs. What expired is removed
// two records a write, and 256 every half second. Its room is used again; the file does
// not become smaller. Opening reads the file once: half a second for a million records,
// from the page cache. A bounded Enlist, and Members, read the whole list: 0.4 µs a member.
//
// A blob is one record up to 256 KiB, and above that one operation for each 256 KiB and one
// for the head, one after another.
package storage
