// Package parts has what one reading of the configuration leaves to the next: pools, connections, servers that berth
// runs, keys of tokens. Whoever needs a part takes it into use by a key; what is equal under one key is the same part, from the
// first that uses it to the last. A key says all that a change of makes another part.
//
// It promises that a part is made once and runs once, from the time that parts begin; that a part without users ends
// in its time, its run first and then its end, which may wait for calls in flight there; and that the end of the process
// ends all.
package parts
