// Package trouble counts what says that something is wrong, and remembers the last of it: five kinds,
// each with a total, the count of the last five minutes, and its last 200 events.
//
// It promises that a total only grows, that an event is in the list as soon as Note has returned, and
// that a list holds nothing but what its events were given: whoever notes one leaves payloads, tokens and
// callers in clear out.
//
// Cost: one lock of the kind's own and one copy of six strings an event; nothing where nothing is wrong.
// Memory: 200 events a kind, once there are so many.
package trouble
