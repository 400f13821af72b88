// Package systemd tells a service manager how the process is (sd_notify(3)): that it is ready, that
// it loads its configuration anew, that it stops and how far it has come with that, and, for as long
// as that is so, that it lives.
//
// It promises that WATCHDOG=1 is sent only after every probe has returned within its time, each in a
// goroutine of its own: a probe that hangs, as one does that waits for a lock which nobody gives
// back, silences it, and the manager ends the process. Where no manager has asked, nothing is sent
// and nothing runs.
package systemd
