// Package session opens sessions of the legacy era at upstreams in a caller's name: those that
// fail-over opens anew, and any that berth holds for a caller.
//
// It promises that a session which Open does not return is ended, as far as its upstream can be
// reached, and that no upstream holds a caller up for long: each message has Timeouts.Control
// (30 s without one), an opening twice that, its end two seconds. It keeps no session, and sends
// nothing twice. What becomes of the messages feeds the upstream's health.
package session
