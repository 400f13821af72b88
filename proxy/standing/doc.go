// Package standing knows which streams of clients stand at a berth, for operators: subscriptions, and the
// standing streams of sessions. It ends those that said how when berth drains.
//
// A stream costs an entry in a map while it stands, and an event an addition; other requests nothing.
package standing
