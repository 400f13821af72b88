package engine

import "time"

// Write is a record that Each makes, and what becomes of it.
type Write struct {
	Key   string
	Value []byte // the caller's again once Each has returned
	TTL   time.Duration
	Over  bool // whatever stands is written over, as Put does; else the record is made as PutIfAbsent does

	// List and Member: once the record is written, Member is made one of List, as KeepMembers does. Where their servers may be
	// several, it is made one whatever becomes of the record: the caller removes it if it is not the member of the one that stands. An
	// empty List is none.
	List   string
	Member Member

	// What follows is Each's to say, unless it fails.
	Standing Record // the record that stands, if this one was not written
	Done     bool   // the record was written
	Listed   bool   // the member was made one of List
}
