package goals

import (
	"strings"
	"testing"

	"berth/integration/bench/report"
)

func row(kind, contender string, rounds ...report.Sample) report.Row {
	product, _, _ := strings.Cut(contender, ",")
	return report.Row{Kind: kind, Contender: contender, Product: product, Rounds: rounds}
}

func cpus(values ...float64) (rounds []report.Sample) {
	for _, v := range values {
		rounds = append(rounds, report.Sample{report.CPU: v})
	}
	return rounds
}

func TestAGoalIsJudgedByTheMedianOfEachRoundsRatio(t *testing.T) {
	rows := []report.Row{row("tools/call", berth, cpus(11, 30, 12)...), row("tools/call", nginx, cpus(10, 20, 11)...)}
	const want = "| tools/call | CPU, × nginx | ≤ 1.10 | 1.10 (1.09 to 1.50) | yes |\n"
	if got := Table(Judge(rows)[:1]); !strings.HasSuffix(got, want) {
		t.Errorf("got\n%swant at its end\n%s", got, want)
	}
	rows[0].Rounds[0][report.CPU] = 11.2
	if v := Judge(rows)[0]; v.Met() {
		t.Errorf("median %s: got met", v.measured())
	}
}

// What was not asked for is left out; what was and has failed is not met.
func TestARowThatFailedIsNotMet(t *testing.T) {
	rows := []report.Row{row("tools/call", berth, nil, nil), row("tools/call", nginx, cpus(10, 20)...)}
	verdicts := Judge(rows)
	if len(verdicts) != 1 { // none of misrouted polls: there was no poll
		t.Fatalf("got %d verdicts, want 1", len(verdicts))
	}
	if got := Table(verdicts[:1]); !strings.Contains(got, "| – | **no** |") {
		t.Errorf("got\n%s", got)
	}
}

func TestOneMisroutedPollMissesTheGoal(t *testing.T) {
	rows := []report.Row{
		row("tasks/get", nginx, report.Sample{report.Misrouted: 0.5}), // of no concern
		row("tasks/get", berth, report.Sample{report.Misrouted: 0}, report.Sample{report.Misrouted: 0}),
		row("miss", berthRedis, report.Sample{report.Misrouted: 0}, report.Sample{report.Misrouted: 1e-6}, report.Sample{report.Misrouted: 0}),
	}
	last := func() Verdict { all := Judge(rows); return all[len(all)-1] }
	if v := last(); v.Met() || v.measured() != "0.0001" {
		t.Errorf("one of a million: got %s, met %v", v.measured(), v.Met())
	}
	rows[2].Rounds = rows[2].Rounds[:1]
	if v := last(); !v.Met() {
		t.Errorf("none: got %s, not met", v.measured())
	}
}

// Two cores that wait for each other half of the time carry no more than one, whatever a request costs.
func TestWaitingCoresCarryNothing(t *testing.T) {
	one := row("cores", berthOne, report.Sample{report.CPU: 10, report.Filled: 1, report.PerSecond: 50})
	two := row("cores", berthTwo, report.Sample{report.CPU: 10, report.Filled: 0.5, report.PerSecond: 50})
	if got := carried([]report.Row{two, one}); len(got) != 1 || got[0] != 1 {
		t.Errorf("got %v, want 1", got)
	}
	two.Rounds[0] = report.Sample{report.CPU: 12.5, report.Filled: 1}
	if got := carried([]report.Row{two, one}); len(got) != 1 || got[0] != 1.6 {
		t.Errorf("a request that costs a quarter more: got %v, want 1.6", got)
	}
}

func TestWhatIsAboveIsOfTheSameRound(t *testing.T) {
	own := row("creation", berthRedis, report.Sample{report.PacedP50: 300}, nil, report.Sample{report.PacedP50: 500})
	other := row("creation", nginx, report.Sample{report.PacedP50: 200}, report.Sample{report.PacedP50: 1}, report.Sample{report.PacedP50: 450})
	if got := above("", report.PacedP50).values([]report.Row{own, other}); len(got) != 2 || got[0] != 100 || got[1] != 50 {
		t.Errorf("got %v, want 100 and 50", got)
	}
}
