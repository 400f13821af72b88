//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"berth/integration/bench/contender"
	"berth/integration/bench/proc"
)

// leaveACore moves this process, and what it will start, off the first of the machine's cores, which is the proxy's.
func leaveACore() ([]int, error) {
	cores, err := proc.Cores()
	if err != nil {
		return nil, err
	}
	if len(cores) < 2 {
		return nil, errors.New("bench: it needs two cores, one of them for the proxy alone")
	}
	return cores, occupy(cores[1:])
}

// occupy moves this process to the cores, and to no other.
func occupy(cores []int) error {
	if said, err := exec.Command("taskset", "-acp", proc.CoreList(cores), strconv.Itoa(os.Getpid())).CombinedOutput(); err != nil {
		return fmt.Errorf("bench: taskset: %w: %s", err, said)
	}
	runtime.GOMAXPROCS(len(cores))
	return nil
}

// describe tells how the numbers came about.
func describe(o options, programs contender.Programs) string {
	return fmt.Sprintf("%s, nginx %s, HAProxy %s; medians of %d rounds, loops of %v, %d connections, %d streams, %.0f requests a second paced, %.0f of tasks/get and tools/call; %d × %s",
		runtime.Version(), version(programs.Nginx), version(programs.HAProxy),
		o.rounds, o.duration, o.connections, o.streams, o.rate, often*o.rate, runtime.NumCPU(), processor())
}

// number is what a version looks like.
var number = regexp.MustCompile(`\d+\.\d+\.\d+`)

// version is the one that a program says it has.
func version(program string) string {
	if program == "" {
		return "missing"
	}
	said, err := exec.Command(program, "-v").CombinedOutput()
	if err != nil {
		return "unknown"
	}
	return number.FindString(string(said))
}

func processor() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	_, rest, _ := strings.Cut(string(info), "model name\t: ")
	name, _, _ := strings.Cut(rest, "\n")
	return name
}
