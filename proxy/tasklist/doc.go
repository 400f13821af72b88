// Package tasklist makes one list of tasks over a pool: of what all of its upstreams list, or
// of a session's owner, of whose list the caller may see a part; and of the tasks of berth's own
// making that are the caller's.
//
// It promises that a list is whole or an error, with principals nobody's but the caller's, and
// within bounds. It returns the page, or a *Refusal that all upstreams agree on; it answers no
// client. It costs a request to every upstream, so that few lists are made at once, and with
// principals a look-up for every task.
package tasklist
