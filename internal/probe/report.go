package probe

import (
	"time"
)

// Verdict is what a run came to.
type Verdict string

const (
	// Lost: something was denied that existed, or shown to whom it does not belong.
	Lost Verdict = "lost"
	// Clean: nothing was lost, and what could be checked was.
	Clean Verdict = "clean"
	// Unknown: nothing was lost, and yet nothing can be said.
	Unknown Verdict = "unknown"
)

// Report is what a run found. Its members are for other programs too: docs/probe.md
// describes them.
type Report struct {
	URL       string   `json:"url"`              // without its query
	Second    string   `json:"second,omitempty"` // likewise
	Revisions []string `json:"revisions"`        // that are spoken there
	Tool      string   `json:"tool,omitempty"`   // the one that was called
	Instances []string `json:"instances"`        // names of servers that answers gave; several mean at least so many instances
	Cookies   []string `json:"cookies"`          // names of cookies that answers set
	Via       []string `json:"via"`              // proxies that answers name
	Checks    []Check  `json:"checks"`
	Skipped   []Skip   `json:"skipped"`
	Left      Left     `json:"left"`
	Requests  int      `json:"requests"` // sent in all
	Seconds   float64  `json:"seconds"`
	Verdict   Verdict  `json:"verdict"`
	Reason    string   `json:"reason,omitempty"` // why the verdict is unknown, or the run ended early
	Findings  []string `json:"findings"`         // what is lost, in sentences
	Advice    []string `json:"advice"`           // what berth would need in front; empty if nothing is lost
	Command   string   `json:"command,omitempty"`
}

func (r *run) report() *Report {
	rep := &Report{
		URL: shown(r.options.URL), Second: shown(r.options.Second), Revisions: some(r.revisions), Tool: r.text(r.tool),
		Instances: sorted(r.wire.hints.names), Cookies: sorted(r.wire.hints.cookies), Via: sorted(r.wire.hints.via),
		Checks: []Check{}, Skipped: some(r.skipped), Left: r.left(), Requests: r.wire.sent,
		Seconds: time.Since(r.began).Round(100 * time.Millisecond).Seconds(),
	}
	for _, c := range r.checks {
		if c.Asked > 0 {
			rep.Checks = append(rep.Checks, *c)
		}
	}
	if r.end != nil {
		rep.Reason = r.text(r.end.Error())
	}
	r.judge(rep)
	rep.Findings = some(findings(rep))
	rep.Advice = []string{}
	rep.advise(r.options)
	return rep
}

// some makes a list without elements one in JSON too.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// judge sets the verdict, and the reason of one that is unknown.
func (r *run) judge(rep *Report) {
	asked, failed := 0, 0
	for i := range rep.Checks {
		c := &rep.Checks[i]
		failed += c.Failed
		if !c.decides() {
			continue
		}
		asked += c.Asked
		if c.Lost > 0 || c.Leaked > 0 {
			rep.Verdict = Lost
		}
	}
	switch {
	case rep.Verdict == Lost:
	case rep.Reason != "":
		rep.Verdict = Unknown
	case failed > 0:
		rep.Verdict, rep.Reason = Unknown, "some requests got no answer to judge by"
	case asked == 0 && r.blind:
		rep.Verdict, rep.Reason = Unknown, "nothing could be checked"
	default:
		rep.Verdict = Clean
	}
}

// lost adds up what checks of these names lost in all eras.
func (rep *Report) lost(names ...string) (lost int) {
	for i := range rep.Checks {
		for _, name := range names {
			if rep.Checks[i].Name == name {
				lost += rep.Checks[i].Lost
			}
		}
	}
	return lost
}
