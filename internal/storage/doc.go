// Package storage keeps what several berths share: small values, lists of short strings, and
// words from one to the others. One URL, one handle, with a breaker and a health. [PutBlob] keeps
// larger values on top of it.
//
// What engines have in common is package [engine]'s; the engines are packages memory, file and redis, on
// localbus and boltcheck. Package breaker keeps operations from servers that are away, package health follows the store.
// This package is what callers use:
//
//	store.go       the handle: options, opening, closing
//	operations.go, some.go, write.go, inorder.go, rate.go, server.go  what it does, through breakers, measured
//	run.go         probes, recoveries, eviction
//	whole.go       whether it has what others made
//	pages.go       long lists, a page at a time
//	blob.go        larger values
//	inspect.go     what a store would meet
//	url.go, durability.go  what is configured
//	metrics.go     instruments
//	vocabulary.go  what callers name of package engine and package health
//
// # What it promises
//
//   - [Open] never waits for a server: a store that is away heals later without help. A file is
//     waited for while another process holds it, and read through.
//   - An operation that Redis is asked for ends within twice [Options.Timeout] (500 ms by default).
//     Once three in a row have failed the breaker opens, and the next ones fail at once; if answers
//     were late, once nobody was answered for twice the time-out.
//   - A burst is no outage. Reads and writes of records go to a server together, 64 at a time, on up
//     to four connections; who asks while those are under way waits for one pipeline before its own.
//     What goes by itself (lists, long values, who has less time than an answer may take, writes
//     that wait for replicas, all in a cluster) has the other connections, less two. The others wait
//     for their turn, eight time-outs at most; where both wait,
//     every other turn is for one that reads. Who waits in vain gets ErrUnavailable, and the
//     breaker hears nothing of it. A connection that is cut is one failure, however many it carried.
//   - Who has less time than an operation may take, and enough for an answer, goes with others and leaves when that time is over.
//     Before anything of it is sent it waits for their pipeline as long as fifteen sixteenths of [Options.Timeout] are left to it,
//     and then goes by itself.
//   - [Store.Run] probes four times a second and closes the breaker within two seconds of the
//     server's return, traffic or not, after three operations that were answered.
//   - A server that is replaced is left: who is master, and who holds a cluster's slots, is asked
//     anew with each probe or connection. A node that is away costs its own keys.
//   - Unknown is not unavailable. [ErrNotFound] is said only by a server that was asked and has no
//     such key.
//   - A write to file: is answered when it is on the disk, and then outlives the process. What the
//     disk gives back is believed only if its checksum is right: damage is an error, never a key
//     that is not found. A full disk refuses writes; reads go on.
//   - A write is sent once. What stands is told apart from what was asked for: the version in
//     [Record], and the record that stands on a lost race.
//   - A bound on a list holds, however many ask at once. A member that stands keeps its place and
//     its expiry, so an AddMember whose answer was lost can be repeated.
//   - With "replicas:N" ([Options.Durability]) a write that returned no error is at the master and
//     at N of its replicas. So is what a write found standing, whoever wrote it.
//   - A watcher is told when it may have missed something: within two seconds, or four times
//     [Options.Timeout] if that is longer. It connects anew at least once a second.
//   - A blob that is found is whole. [Inspect] finds what would break these promises, and leaves
//     nothing written. The passwords in the URL appear nowhere.
//
// # What it does not promise
//
//   - A caller whose context is cancelled still waits for the answer, or for the time-out: the
//     driver heeds deadlines on its sockets, not cancellations.
//   - A write that ended in ErrUnavailable may have happened; see [Engine]. Before its use a connection is looked at, so
//     that no write goes by one that the server has closed; not over TLS, and not if it was used within 5 ms before.
//   - Redis acknowledges before it syncs, and with "ack" before it replicates: what a fail-over or
//     a crash of the server loses, this package cannot bring back. memory: loses everything with
//     the process.
//   - "replicas:N" is no quorum: reads are the master's alone, and a record that was refused as
//     unreplicated is read until a fail-over loses it. Neither waits Delete, nor a RemoveMember that
//     finds nothing to remove.
//   - No message need arrive: who watches must find out by itself, in the end.
//   - The order of a list is that of the engine's clock, which may be set back.
//   - Of a file whose newest state cannot be read the one before counts, with a warning. A disk
//     that says that it has written what it has not is beyond this package, and one that hangs
//     holds a write up for as long as its caller's context.
//   - A file belongs to one process. Its lock is the operating system's, which network file systems
//     keep badly or not at all.
//   - A key that is made anew starts at version 1 again: values that others swap need a nonce.
//   - Redis must run with maxmemory-policy noeviction: an evicted key is one that is not found.
//
// # What counts as an outage
//
// The breaker counts what PING would share: no connection, no answer in time, a wrong password, a
// server that is loading or has lost its master; a caller's own deadline, if it left the server the
// time for an answer. A refusal of one command by a server that answers others (memory is full, a
// read-only replica, a missing permission) is ErrUnavailable to its caller and nothing to the
// breaker; that something is refused, the log tells. A cluster is healthy while all of its masters are. A file has no breaker: it is unhealthy
// from the first write that the disk refuses to the next that it takes.
//
// # Keys
//
// An operation touches one key, but for Each and InOrder, so nothing crosses the slots of a cluster. A list is one key, and
// the pieces of a blob lie with its head. Keys that are to lie together share a hash tag. Topics are
// channels with the same prefix, and no keys.
//
// # What it costs
//
// A Get is one GET; every write is one EVALSHA that reads the key and sets it, and so are several by
// Each, with their places in lists, or by InOrder, with removals and a notice; in a cluster Each is one EVALSHA a
// record and a list, at the same time, and InOrder an operation a step. Of callers who ask at the same time several go
// in one pipeline; nobody waits for others to come. A caller alone writes and reads by itself: two system calls, and no
// allocation but the value. The connections are the driver's, which makes, authenticates and closes them. A list in Redis is a
// sorted set: about 100 bytes a member beside its name. A notice is one PUBLISH, a watch a connection
// and one PUBLISH a second, a probe one PING; of a cluster, one CLUSTER SLOTS and one CLUSTER INFO a
// master. "replicas:N" adds a WAIT in the write's own round trip: at most three fifths of
// [Options.Timeout]. In memory: a map entry, a heap entry if it expires, and one mutex.
//
// In a file: about 500 bytes a record of 130, and one sync a write, which writers at the same time
// share (3,800 writes a second alone, 17,000 by 32, on a disk that syncs in 0.2 ms). A Get reads the
// map of the file in memory, 2.5 µs. The room of what expired is used again; the file does not become
// smaller. Opening reads the file once: half a second for a million records, from the page cache. A
// bounded AddMember, Members and Listing read the whole list: 0.4 µs a member.
//
// A blob is one record up to 256 KiB, and above that one operation for each 256 KiB and one for the
// head, one after another. To write and to read one computes SHA-256 of it, unless it is one record in memory.
package storage
