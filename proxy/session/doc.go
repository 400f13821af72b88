// Package session opens sessions of the legacy era at upstreams in a caller's name: those that
// fail-over opens anew, and any that berth holds for a caller.
//
// It promises that a session which Open does not return is ended, as far as its upstream can be
// reached, and that Open ends in time whatever the upstream does: each message within
// Timeouts.Control (30 s without one), all of them within twice that. It keeps no session, and
// opens none twice. What becomes of the exchanges feeds the upstream's health.
package session
