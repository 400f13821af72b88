//go:build linux

package main

import (
	"runtime"
	"syscall"
	"time"

	"berth/integration/bench/proc"
)

// others finds out what part of the machine somebody else has taken: a machine that is not idle shows in rates and
// latencies first.
type others struct {
	began     time.Time
	busy, own time.Duration
}

func watchOthers() (o others, err error) {
	o.began, o.own = time.Now(), ownCPU()
	o.busy, err = proc.Busy()
	return o, err
}

// part is what others have taken since, of all cores.
func (o others) part() (float64, error) {
	busy, err := proc.Busy()
	theirs := busy - o.busy - (ownCPU() - o.own)
	return max(0, theirs.Seconds()/time.Since(o.began).Seconds()/float64(runtime.NumCPU())), err
}

// ownCPU is what this process has taken, and those that it has started and that have ended.
func ownCPU() time.Duration {
	var total time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var usage syscall.Rusage
		if err := syscall.Getrusage(who, &usage); err != nil {
			panic(err) // there is nothing that it could refuse
		}
		total += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	return total
}
