package profile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// attaching is what strace is given until it sees all of a process's threads.
const attaching = 500 * time.Millisecond

// Calls are the system calls that a process makes during f, by name; none where strace is not installed.
func Calls(pid int, f func() error) (map[string]float64, error) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		return nil, f()
	}
	file, err := os.CreateTemp("", "berth-bench-calls")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	counting := exec.Command(strace, "-c", "-f", "-o", file.Name(), "-p", strconv.Itoa(pid))
	if err := counting.Start(); err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	time.Sleep(attaching)
	err = errors.Join(f(), counting.Process.Signal(os.Interrupt))
	if ended := counting.Wait(); err == nil && counting.ProcessState.ExitCode() > 0 {
		err = fmt.Errorf("profile: strace: %w", ended)
	}
	if err != nil {
		return nil, err
	}
	return calls(file)
}

// calls reads the summary of strace: a line for each system call, whose fourth field says how often, and whose last
// names it.
func calls(summary io.Reader) (map[string]float64, error) {
	all := make(map[string]float64)
	lines := bufio.NewScanner(summary)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 5 || fields[len(fields)-1] == "total" {
			continue
		}
		if n, err := strconv.ParseFloat(fields[3], 64); err == nil {
			all[fields[len(fields)-1]] = n
		}
	}
	return all, lines.Err()
}
