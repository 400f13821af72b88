package probe

// Names of checks, as reports have them.
const (
	checkTasks    = "tasks"          // tool calls that were to make a task
	checkPolls    = "polls"          // tasks/get
	checkResults  = "results"        // tasks/result, of tasks that had ended
	checkCancels  = "cancels"        // tasks/cancel
	checkLists    = "lists"          // tasks/list, which must name the task
	checkListened = "listened"       // tasks that subscriptions/listen acknowledges
	checkNotified = "notified"       // tasks whose end a listener was told of
	checkSessions = "sessions"       // sessions that hold; lost: broken
	checkStreams  = "streams"        // standing streams, GET
	checkEnds     = "session ends"   // DELETE
	checkSecond   = "second address" // tasks, polled there
	checkForeign  = "other principal"
	checkKept     = "kept connection" // polls or pings on one connection; not part of the verdict
)

// Check is what came of one kind of request in one revision.
type Check struct {
	Revision string `json:"revision"`          // of the protocol that was spoken
	Name     string `json:"name"`              // what was checked; docs/probe.md lists the names
	Asked    int    `json:"asked"`             // how often; of "sessions", how many
	Lost     int    `json:"lost"`              // denied, although it existed
	Failed   int    `json:"failed"`            // no answer to judge by
	Expired  int    `json:"expired"`           // denied after its time to live: not lost
	Leaked   int    `json:"leaked"`            // shown to another principal than its own
	Example  string `json:"example,omitempty"` // the first answer that lost, failed or leaked
}

// decides reports whether what the check lost is the URL's loss. A tool call that makes
// no task has lost nothing that existed.
func (c *Check) decides() bool { return c.Name != checkKept && c.Name != checkTasks }

// ledger is the checks and gaps of a run, in the order in which they came up.
type ledger struct {
	secrets secrets
	checks  []*Check
	skipped []Skip
}

// Skip is a check that was not made.
type Skip struct {
	Revision string `json:"revision"` // empty: of the whole run
	Name     string `json:"name"`     // as of Check
	Why      string `json:"why"`
}

func (l *ledger) check(revision, name string) *Check {
	for _, c := range l.checks {
		if c.Revision == revision && c.Name == name {
			return c
		}
	}
	c := &Check{Revision: revision, Name: name}
	l.checks = append(l.checks, c)
	return c
}

func (l *ledger) skip(revision, name, why string) {
	for _, s := range l.skipped {
		if s.Revision == revision && s.Name == name {
			return
		}
	}
	l.skipped = append(l.skipped, Skip{Revision: revision, Name: name, Why: l.text(why)})
}

// book counts a reply about something that exists, and returns what it was.
func (l *ledger) book(c *Check, r reply) judgement {
	j := r.judge()
	switch j {
	case unsent:
		return j
	case lost:
		l.lose(c, 1, r.String())
	case failed:
		c.Failed++
		if c.Example == "" {
			c.Example = l.text(r.String())
		}
	}
	c.Asked++
	return j
}

// lose counts n losses. The first loss is a better example than a failure before it.
func (l *ledger) lose(c *Check, n int, example string) {
	if c.Lost == 0 && n > 0 {
		c.Example = l.text(example)
	}
	c.Lost += n
}

// text is what a report may repeat of what it was told.
func (l *ledger) text(s string) string { return printable(l.secrets.blot(s), longestText) }

// longestText is the length of one remark in a report, in runes.
const longestText = 200
