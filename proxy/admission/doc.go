// Package admission is who may come in, and what a request holds of berth's limits while it is
// served. A Gate counts what is under way and turns away what is too much, for the process or for one
// caller; a Seat is one request's share, given back once. Calls about work that has begun are let in
// when new work is not.
//
// It holds no queue: what is given back can be taken at once, and who is turned away is told so
// at once. A request that is let in costs one lock a limit that it counts for, and no memory.
package admission
