// Package discover tells which instances a pool has, from DNS, from a file or from
// Kubernetes, while they come and go.
//
// It promises:
//
//   - An instance has a name that is the same at all berths and at all times: address:port
//     (A, AAAA), target:port (SRV), the pod's name (Kubernetes), or what the file says.
//   - A source tells whole answers. One that fails changes nothing: what it told last
//     stands, however old.
//   - An answer without any instance counts only once it has stood for a while
//     ([Rules.EmptyGrace]).
//   - An instance that left stays, draining, until nothing holds it ([Rules]). One that comes
//     back in that time is the one that left.
//
// It does not promise that an instance that is told of answers, nor that all berths hear of
// one at the same time: the [Directory] is for that.
//
// A source costs one goroutine, and a question each time that an answer's life is over: DNS by
// its TTL, a file each second, Kubernetes one watch. Nothing of it is on the way of a request.
package discover
