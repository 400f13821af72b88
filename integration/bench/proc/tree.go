package proc

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// CPU is the time that the process and all below it have run so far.
func CPU(pid int) (time.Duration, error) {
	var total time.Duration
	err := eachOfTree(pid, func(dir string) error {
		threads, err := filepath.Glob(dir + "/task/*/schedstat")
		if err != nil {
			return err
		}
		for _, thread := range threads {
			ran, err := read(thread, onCPU)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			total += ran
		}
		return nil
	})
	return total, err
}

// Resident is the memory, in bytes, that the process and all below it hold.
func Resident(pid int) (int64, error) {
	var pages int64
	err := eachOfTree(pid, func(dir string) error {
		n, err := read(dir+"/statm", residentPages)
		pages += n
		return err
	})
	return pages * int64(os.Getpagesize()), err
}

// Busy is what all cores of the machine have worked so far, for whomever; what its host has withheld counts as work.
func Busy() (time.Duration, error) { return read("/proc/stat", busy) }

// Cores are those that this process may run on.
func Cores() ([]int, error) {
	return read("/proc/self/status", func(text string) ([]int, error) {
		list, _ := field(text, "Cpus_allowed_list")
		return cores(list)
	})
}

func eachOfTree(root int, f func(dir string) error) error {
	all, err := parents()
	if err != nil {
		return err
	}
	for _, pid := range descendants(root, all) {
		if err := f("/proc/" + strconv.Itoa(pid)); err != nil {
			return err
		}
	}
	return nil
}

// parents maps every process to its parent. One that ends meanwhile is left out.
func parents() (map[int]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	all := make(map[int]int)
	for _, stat := range stats {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
		if err != nil {
			return nil, err
		}
		if of, err := read(stat, parent); err == nil {
			all[pid] = of
		}
	}
	return all, nil
}

func read[T any](path string, parse func(string) (T, error)) (T, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		var none T
		return none, err
	}
	return parse(string(text))
}
