package profile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// Shares are the parts of a profile's time that each group has.
func Shares(file string) (map[string]float64, error) {
	var said bytes.Buffer
	traces := exec.Command("go", "tool", "pprof", "-traces", file)
	traces.Stderr = &said
	text, err := traces.Output()
	if err != nil {
		return nil, fmt.Errorf("profile: go tool pprof: %w: %s", err, said.Bytes())
	}
	return shares(bytes.NewReader(text))
}

// shares adds up what "pprof -traces" tells: samples between lines of dashes, each of which begins with its time and its
// leaf, and has its callers below.
func shares(traces io.Reader) (map[string]float64, error) {
	times := make(map[string]time.Duration)
	var all, took time.Duration
	var stack []string
	end := func() {
		if len(stack) > 0 {
			times[of(stack)] += took
			all += took
		}
		stack = stack[:0]
	}
	lines := bufio.NewScanner(traces)
	begun := false
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "-----"):
			end()
			begun = true
		case begun && strings.TrimSpace(line) != "":
			if value, leaf, first := sample(line); first {
				took, line = value, leaf
			}
			stack = append(stack, strings.TrimSuffix(strings.TrimSpace(line), " (inline)"))
		}
	}
	end()
	if all == 0 {
		return nil, fmt.Errorf("profile: there are no samples in it")
	}
	parts := make(map[string]float64)
	for name, t := range times {
		parts[name] = float64(t) / float64(all)
	}
	return parts, lines.Err()
}

// sample is the time and the leaf of a sample's first line.
func sample(line string) (took time.Duration, leaf string, ok bool) {
	value, leaf, found := strings.Cut(strings.TrimSpace(line), " ")
	if !found {
		return 0, "", false
	}
	took, err := time.ParseDuration(value)
	return took, leaf, err == nil
}
