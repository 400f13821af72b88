//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"berth/integration/bench/contender"
	"berth/integration/bench/proc"
)

// leaveACore moves this process, and what it will start, off one core, which it returns: the proxy's.
func leaveACore() (int, error) {
	cores, err := proc.Cores()
	if err != nil {
		return 0, err
	}
	if len(cores) < 2 {
		return 0, errors.New("bench: it needs two cores, one of them for the proxy alone")
	}
	others := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(cores[1:])), ","), "[]")
	if said, err := exec.Command("taskset", "-acp", others, strconv.Itoa(os.Getpid())).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("bench: taskset: %w: %s", err, said)
	}
	runtime.GOMAXPROCS(len(cores) - 1)
	return cores[0], nil
}

// describe tells how the numbers came about.
func describe(o options, programs contender.Programs) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d × %s, %s; medians of %d rounds, each loop %v; %d connections; paced: %.0f requests a second\n",
		runtime.NumCPU(), processor(), runtime.Version(), o.rounds, o.duration, o.connections, o.rate)
	for _, program := range []string{programs.Nginx, programs.HAProxy} {
		if program == "" {
			continue
		}
		said, _ := exec.Command(program, "-v").CombinedOutput() // what it says is all that is wanted
		first, _, _ := strings.Cut(string(said), "\n")
		fmt.Fprintln(&b, first)
	}
	return b.String()
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
