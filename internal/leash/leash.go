// Package leash ties the processes that tests start to the test process. A test's
// cleanup kills what it started; it does not run when go test's time-out, or
// somebody's signal, ends the test process first.
package leash
