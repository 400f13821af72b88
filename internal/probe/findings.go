package probe

import (
	"fmt"
	"slices"
)

// gravest are the checks whose losses are told of first.
var gravest = []string{checkForeign, checkPolls, checkSessions}

// findings says in sentences what is lost, the gravest first.
func findings(rep *Report) []string {
	var first, rest []string
	for _, c := range rep.Checks {
		switch sentence := finding(c); {
		case sentence == "":
		case slices.Contains(gravest, c.Name):
			first = append(first, sentence)
		default:
			rest = append(rest, sentence)
		}
	}
	if kept := rep.kept(); kept != "" {
		rest = append(rest, kept)
	}
	return slices.Concat(first, rest)
}

// losses word how many of how many were lost, by the check's name.
var losses = map[string]string{
	checkTasks:    "%d of %d tool calls were denied with their session",
	checkSessions: "sessions break in %d of %d",
	checkResults:  "%d of %d results lost",
	checkCancels:  "%d of %d cancels lost: what was cancelled runs on",
	checkLists:    "%d of %d lists of tasks lack tasks",
	checkListened: "streams leave out %d of %d tasks that they were asked to tell of",
	checkNotified: "%d of %d ends of tasks were not told",
	checkStreams:  "%d of %d standing streams denied",
	checkEnds:     "%d of %d sessions could not be ended",
	checkSecond:   "%d of %d tasks are unknown at the second address",
}

func finding(c Check) string {
	if c.Leaked > 0 {
		return fmt.Sprintf("%s: leaks: what is one principal's was shown to another in %d of %d looks", c.Revision, c.Leaked, c.Asked)
	}
	if c.Lost == 0 {
		return ""
	}
	if c.Name == checkPolls {
		return fmt.Sprintf("%s: %s of polls lost (%d of %d)", c.Revision, percent(c.Lost, c.Asked), c.Lost, c.Asked)
	}
	if loss, ok := losses[c.Name]; ok {
		return fmt.Sprintf("%s: "+loss, c.Revision, c.Lost, c.Asked)
	}
	return ""
}

// kept says whether one connection changes the picture.
func (rep *Report) kept() string {
	for _, c := range rep.Checks {
		if c.Name != checkKept || c.Asked == 0 || c.Failed > 0 {
			continue
		}
		if c.Lost == 0 {
			return "on one kept connection nothing is lost: the balancer balances connections, and whoever opens a new one loses"
		}
		return "on one kept connection the same is lost: keeping connections does not help"
	}
	return ""
}

func percent(part, whole int) string { return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole)) }
