// Package pace writes to peers as fast as they take it. One that takes what it is sent, however slowly, has time for the rest; one
// that takes too little in its time is gone.
//
// What a peer takes shows by what the kernel still has of it: a socket has room again only once a third of what waits there has gone,
// which may be megabytes, and minutes of a slow peer's. So whoever waited for room in vain looks at the queue before it gives the
// peer up. Where that cannot be seen (outside Linux) room alone counts.
//
// A write that need not wait costs what one to a socket does ([berth/internal/h1/raw]).
package pace
