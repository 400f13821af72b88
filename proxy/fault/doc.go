// Package fault holds every refusal and failure that berth words itself, and the one ladder
// from an error to what the client gets. It promises that what says "not executed" was not
// sent, and that nothing of what an upstream or the store said reaches a client by it.
package fault
