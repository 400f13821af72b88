package proc

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// parent is the parent's id in the text of /proc/PID/stat. The program's name stands in parentheses and may hold
// any character.
func parent(stat string) (int, error) {
	_, rest, found := cutLast(stat, ") ")
	fields := strings.Fields(rest)
	if !found || len(fields) < 2 {
		return 0, fmt.Errorf("proc: no parent in %q", stat)
	}
	return strconv.Atoi(fields[1])
}

func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}

// onCPU is the time that a thread has run, in the text of its schedstat.
func onCPU(schedstat string) (time.Duration, error) {
	run, _, _ := strings.Cut(schedstat, " ")
	ns, err := strconv.ParseInt(run, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("proc: no time in schedstat: %w", err)
	}
	return time.Duration(ns), nil
}

// residentPages is the resident set in the text of /proc/PID/statm.
func residentPages(statm string) (int64, error) {
	fields := strings.Fields(statm)
	if len(fields) < 2 {
		return 0, fmt.Errorf("proc: no resident set in %q", statm)
	}
	return strconv.ParseInt(fields[1], 10, 64)
}

// cores are the numbers in a list such as "0-2,5", as /proc/PID/status has it.
func cores(list string) ([]int, error) {
	var all []int
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		first, err := strconv.Atoi(low)
		if err != nil {
			return nil, fmt.Errorf("proc: cores %q: %w", list, err)
		}
		last, err := strconv.Atoi(high)
		if err != nil {
			return nil, fmt.Errorf("proc: cores %q: %w", list, err)
		}
		for core := first; core <= last; core++ {
			all = append(all, core)
		}
	}
	return all, nil
}

// CoreList is the list that names cores, as taskset takes it.
func CoreList(cores []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(cores), " ", ","), "[]")
}

// field is what stands behind name and a colon on a line of text.
func field(text, name string) (string, bool) {
	for line := range strings.Lines(text) {
		if value, found := strings.CutPrefix(line, name+":"); found {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}

// tick is the unit of /proc/stat: USER_HZ is 100 on all that Go runs on.
const tick = 10 * time.Millisecond

// busy is what all cores have worked so far, in the text of /proc/stat.
func busy(stat string) (time.Duration, error) {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, fmt.Errorf("proc: no times in %q", line)
	}
	var ticks int64
	for i, text := range fields[1:9] {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("proc: times in %q: %w", line, err)
		}
		if i != 3 && i != 4 { // idle, and waiting for a disk
			ticks += n
		}
	}
	return time.Duration(ticks) * tick, nil
}

// descendants are root and all below it, given each process's parent.
func descendants(root int, parents map[int]int) []int {
	tree := []int{root}
	for i := 0; i < len(tree); i++ {
		for pid, parent := range parents {
			if parent == tree[i] {
				tree = append(tree, pid)
			}
		}
	}
	return tree
}
