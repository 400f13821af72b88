package report

import (
	"strings"
	"testing"
	"time"
)

func TestMedianIsTheMiddle(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{[]float64{3, 1, 2}, 2}, {[]float64{4, 1, 2, 3}, 2.5}, {[]float64{7}, 7}} {
		if got, ok := Median(c.values); !ok || got != c.want {
			t.Errorf("Median(%v): got %v, %v, want %v", c.values, got, ok, c.want)
		}
	}
	if got, ok := Median(nil); ok {
		t.Errorf("of nothing: got %v, want none", got)
	}
}

func TestQuantileIsAValueThatWasSeen(t *testing.T) {
	values := make([]time.Duration, 100)
	for i := range values {
		values[i] = time.Duration(i + 1)
	}
	for q, want := range map[float64]time.Duration{0.5: 50, 0.99: 99, 0.999: 100, 1: 100, 0: 1} {
		if got := Quantile(values, q); got != want {
			t.Errorf("Quantile(%v): got %d, want %d", q, got, want)
		}
	}
	if got := Quantile(nil, 0.5); got != 0 {
		t.Errorf("of nothing: got %v, want 0", got)
	}
}

// A machine that is slow for one round makes both slow in it: the ratio of that round is as good as any.
func TestRatiosAreOfTheSameRound(t *testing.T) {
	own := Row{Rounds: []Sample{{CPU: 30}, {CPU: 90}, {CPU: 32}}}
	other := Row{Rounds: []Sample{{CPU: 10}, {CPU: 30}, {CPU: 8}}}
	if got, ok := own.Ratio(CPU, other); !ok || got != 3 {
		t.Errorf("got %v, %v, want 3", got, ok)
	}
}

func TestRatiosLeaveOutRoundsThatFailed(t *testing.T) {
	own := Row{Rounds: []Sample{nil, {CPU: 20}, {CPU: 30}}}
	other := Row{Rounds: []Sample{{CPU: 10}, {CPU: 10}, nil}}
	if got, ok := own.Ratio(CPU, other); !ok || got != 2 {
		t.Errorf("got %v, %v, want 2", got, ok)
	}
	if got, ok := own.Ratio(CPU, Row{Rounds: []Sample{nil, nil, nil}}); ok {
		t.Errorf("without a round of both: got %v, want none", got)
	}
}

func TestTheTableComparesWithinAKind(t *testing.T) {
	rows := []Row{
		{Kind: "a", Contender: "nginx", Product: "nginx", Rounds: []Sample{{CPU: 10, PerSecond: 12345.6, Busy: 0.5}}},
		{Kind: "a", Contender: "nginx, no log", Product: "nginx", Quiet: true, Rounds: []Sample{{CPU: 8, PerSecond: 999, Busy: 1}}},
		{Kind: "a", Contender: "berth", Product: "berth", Rounds: []Sample{{CPU: 40, P50: 1500, Misrouted: 0}}},
		{Kind: "a", Contender: "berth, no log", Product: "berth", Quiet: true, Rounds: []Sample{{CPU: 36}}},
		{Kind: "b", Unit: "an event", Contender: "berth", Product: "berth", Rounds: []Sample{{CPU: 5, Misrouted: 0.5}}},
	}
	lines := strings.Split(Table(rows), "\n")
	for i, want := range []string{
		"| a | nginx | 10.0 | 1.00 | – | > 12,346 | – | – | – | – | – | – | – | – | – |",
		"| a | nginx, no log | 8.0 | 1.00 | – | 999 | – | – | – | – | – | – | – | – | – |",
		"| a | berth | 40.0 | 4.00 | – | – | 1.50 | – | – | – | – | – | – | – | 0 % |",
		"| a | berth, no log | 36.0 | 4.50 | – | – | – | – | – | – | – | – | – | – | – |",
		"| b: an event | berth | 5.0 | – | – | – | – | – | – | – | – | – | – | – | 50 % |",
	} {
		if got := lines[i+2]; got != want {
			t.Errorf("line %d:\ngot  %s\nwant %s", i, got, want)
		}
	}
}

func TestThousandsAreSeparated(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
