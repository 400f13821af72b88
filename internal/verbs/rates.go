package verbs

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// counted is the metric that rates are made of.
const counted = "berth_requests_total{"

// sample is how many requests each pool had by a time, by outcome.
type sample struct {
	at     time.Time
	counts map[[2]string]float64 // by pool and outcome; nil: not known
}

// read takes the counts out of what /metrics tells.
func (s *sample) read(r io.Reader) error {
	s.counts = map[[2]string]float64{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		labels, found := strings.CutPrefix(lines.Text(), counted)
		if !found {
			continue
		}
		labels, value, _ := strings.Cut(labels, "} ")
		n, err := strconv.ParseFloat(strings.Fields(value + " 0")[0], 64)
		if err == nil {
			s.counts[[2]string{label(labels, "pool"), label(labels, "outcome")}] += n
		}
	}
	return lines.Err()
}

// label is the value of a label, as far as nothing in it is quoted.
func label(labels, name string) string {
	_, rest, found := strings.Cut(","+labels, ","+name+`="`)
	if !found {
		return ""
	}
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// tellRates tells how many requests a second each pool had between two samples.
func tellRates(w io.Writer, before, now sample) {
	took := now.at.Sub(before.at).Seconds()
	if now.counts == nil || before.counts == nil || took <= 0 {
		fmt.Fprintln(w, "requests/s  -")
		return
	}
	byPool := map[string][]string{}
	total := map[string]float64{}
	for _, key := range slices.SortedFunc(maps.Keys(now.counts), func(a, b [2]string) int { return strings.Compare(a[0]+" "+a[1], b[0]+" "+b[1]) }) {
		more := max(0, now.counts[key]-before.counts[key]) / took
		total[key[0]] += more
		if more > 0 {
			byPool[key[0]] = append(byPool[key[0]], fmt.Sprintf("%s %.1f", key[1], more))
		}
	}
	for _, pool := range slices.Sorted(maps.Keys(total)) {
		name := pool
		if name == "" {
			name = "(no pool)"
		}
		fmt.Fprintf(w, "requests/s  %s %.1f  %s\n", plain(name), total[pool], strings.Join(byPool[pool], ", "))
	}
	if len(total) == 0 {
		fmt.Fprintln(w, "requests/s  0")
	}
}
