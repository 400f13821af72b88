package proc

import (
	"slices"
	"testing"
	"time"
)

func TestParentSkipsTheProgramsName(t *testing.T) {
	for stat, want := range map[string]int{
		"12 (nginx) S 7 12 12 0 -1 4194560": 7,
		"12 (a) b (c) R 1 12 12 0":          1,
	} {
		if got, err := parent(stat); err != nil || got != want {
			t.Errorf("parent(%q): got %d, %v, want %d", stat, got, err, want)
		}
	}
	if _, err := parent("12 nginx S"); err == nil {
		t.Error("a stat without a name in parentheses: got no error")
	}
}

func TestOnCPUIsTheFirstNumber(t *testing.T) {
	if got, err := onCPU("1500000 57936 1\n"); err != nil || got != 1500*time.Microsecond {
		t.Errorf("got %v, %v, want 1.5ms", got, err)
	}
	if _, err := onCPU(""); err == nil {
		t.Error("an empty schedstat: got no error")
	}
}

func TestResidentPagesAreTheSecondNumber(t *testing.T) {
	if got, err := residentPages("4000 321 100 1 0 500 0\n"); err != nil || got != 321 {
		t.Errorf("got %d, %v, want 321", got, err)
	}
	if _, err := residentPages("4000"); err == nil {
		t.Error("a statm of one number: got no error")
	}
}

func TestCoresReadsRanges(t *testing.T) {
	for list, want := range map[string][]int{"0-1\n": {0, 1}, "3": {3}, "0-2,5,7-8": {0, 1, 2, 5, 7, 8}} {
		if got, err := cores(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("cores(%q): got %v, %v, want %v", list, got, err, want)
		}
	}
	if got, want := CoreList([]int{0, 2, 11}), "0,2,11"; got != want {
		t.Errorf("CoreList: got %q, want %q", got, want)
	}
	for _, list := range []string{"", "a-b", "1-"} {
		if got, err := cores(list); err == nil {
			t.Errorf("cores(%q): got %v, want an error", list, got)
		}
	}
}

func TestFieldIsFoundByItsWholeName(t *testing.T) {
	const status = "Name:\tx\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\n"
	if got, ok := field(status, "Cpus_allowed_list"); !ok || got != "0-1" {
		t.Errorf("got %q, %v, want 0-1", got, ok)
	}
	if got, ok := field(status, "Cpus"); ok {
		t.Errorf("part of a name: got %q, want nothing", got)
	}
}

func TestBusyLeavesOutIdleness(t *testing.T) {
	const stat = "cpu  100 20 30 5000 600 7 8 9 11 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n"
	if got, err := busy(stat); err != nil || got != 1740*time.Millisecond {
		t.Errorf("got %v, %v, want 1.74s", got, err)
	}
	for _, stat := range []string{"", "cpu 1 2 3", "cpu0 1 2 3 4 5 6 7 8", "cpu a 2 3 4 5 6 7 8"} {
		if got, err := busy(stat); err == nil {
			t.Errorf("%q: got %v, want an error", stat, got)
		}
	}
}

func TestDescendantsAreFoundAtEveryDepth(t *testing.T) {
	got := descendants(2, map[int]int{1: 0, 2: 1, 3: 2, 4: 3, 5: 1, 6: 2})
	slices.Sort(got)
	if want := []int{2, 3, 4, 6}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
