// Package explain tells operators where a request would go, and why: it asks what the steps of a request that is served ask
// (package course), in their order, and says what each found. Nothing is sent, counted or changed.
//
//	explain.go     the steps, and what they say
//	byid.go        requests about an id
//	task.go        tasks of berth's own making
//	routed.go      what the router says
//	owner.go       owners
//	candidates.go  new work
package explain
