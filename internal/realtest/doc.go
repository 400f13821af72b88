// Package realtest is what tests of real processes and sockets share: a bound on
// waiting for what gives no sign, a log that can be read while it is written, and
// an end for what they started. Whatever runs within the test process is tested in
// fake time, and needs none of this.
package realtest
