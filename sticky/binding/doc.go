// Package binding is what is known of one task or session: the key that names it, the binding that says whose it is, and the
// forms in which that is written.
//
// It promises that what Encode writes is what berths of all versions read, that Digest tells neither ids nor principals, and that
// a Packed binding pins nothing of what it was made of. It asks nobody for anything.
//
// What it costs: to write a binding or to read one is the allocation of its text.
//
//	key.go                 what is named, and by what name in the store
//	binding.go, former.go  what is said of it
//	encode.go, decode.go   as the store has it
//	packed.go              as package near has it
package binding
