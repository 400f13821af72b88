// Package bulletin is how a berth is known to the others: what each says of itself, in the store.
//
// It promises that a berth is told of within tellEvery of its start, its change or the store's return,
// and for 15 minutes after its last word: as "gone" if it took its leave, as "dead" if it fell silent.
// Ages are by the store's clock, so that berths' own need not agree. An outage of the store is nobody's
// death: nobody is called dead while the store is away, or before a berth that lives has had the time to
// be heard of again.
//
// It does not promise that what a berth said still holds, nor anything of one that cannot reach the
// store.
//
// Cost: two small writes of each berth every five seconds. To read all is one operation for the list and
// one a berth, eight at a time, once a second at most, and only while somebody asks. Requests cost nothing.
package bulletin
