// Package record writes down what answers tell, before their bytes are released: which upstream
// owns a task or a session that was just given out, how a task fares, who issued a state or a
// cursor, and which values keep later calls together.
//
// It promises that what cannot be bound to its upstream, because it is another's, is an error,
// and that a record outlives a client that hangs up. It writes nothing to clients, and judges no
// message: whoever observes the answer says what it is. To upstreams it sends one thing only, that
// a task is withdrawn whose id another owns. An answer that tells nothing new costs no access to
// the store.
package record
