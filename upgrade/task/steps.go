package task

import (
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Steps are what has become of a task, as its record keeps it: some words a step, in one string, for a
// record is read with each poll and its steps are told to operators alone. A step is
//
//	what+milliseconds@holder>upstream=detail
//
// in base 36 since Task.Created, without what is not known, and ";" between two. They come with the
// transitions themselves, so no step is stored apart. A berth that knows nothing of them drops them
// with the next step that it takes.
type Steps string

// Words of steps.
const (
	StepMade       = "made"
	StepQueued     = "queued"
	StepSent       = "sent"        // to Upstream
	StepAsked      = "asked"       // its client
	StepAnswered   = "answered"    // by its client
	StepAdopted    = "adopted"     // by Holder, from one that was gone or had left
	StepHandedOver = "handed_over" // Holder goes, and has left it
	StepRerun      = "rerun"       // as the task in Detail
	StepEnded      = "ended"
)

// MaxSteps is how many a record keeps: the first, and the last ones.
const MaxSteps = 32

// Step is one of them, as it is told.
type Step struct {
	At       time.Time
	What     string
	Holder   string
	Upstream string
	Detail   string // of the end: the state, and a reason
}

// follow adds what op has made of the task before.
func (s Steps) follow(before, after *Task, op *Op) Steps {
	add := func(what, holder, upstream, detail string) {
		if s == "" && what != StepMade {
			s = begun(before)
		}
		s = s.append(op.At.Sub(before.Created), what, holder, upstream, detail)
	}
	switch op.Kind {
	case Dispatch:
		add(StepSent, "", op.Upstream, "")
	case Pause, Open:
		if len(after.OpenAsks()) > len(before.OpenAsks()) {
			add(StepAsked, "", "", "")
		}
	case Answer:
		add(StepAnswered, after.Holder, "", "")
	case Settle:
		add(StepAnswered, "", "", "")
	case Leave:
		add(StepHandedOver, "", "", "")
	case Adopt:
		add(StepAdopted, op.Holder, "", "")
	case Rerun:
		add(StepRerun, op.Holder, "", op.Again)
		return s
	}
	if after.State == Queued && before.State != Queued {
		add(StepQueued, "", "", "")
	}
	if after.State.Terminal() {
		add(StepEnded, "", "", strings.TrimSpace(string(after.State)+" "+op.Reason))
	}
	return s
}

// begun are the steps of a task that has none written down: to make one costs no more so.
func begun(t *Task) Steps {
	if t.Round > 0 {
		return Steps("").append(0, StepMade, "", "", "") // by a berth that wrote none: nobody knows which
	}
	s := Steps("").append(0, StepMade, t.Holder, "", "")
	if t.Terms.Slots > 0 {
		s = s.append(0, StepQueued, "", "", "")
	}
	return s
}

func (s Steps) append(after time.Duration, what, holder, upstream, detail string) Steps {
	var room [512]byte // most are no longer, and stay on the stack
	to := room[:0]
	if to = append(to, s...); len(s) > 0 {
		to = append(to, ';')
	}
	to = strconv.AppendInt(append(append(to, what...), '+'), after.Milliseconds(), 36)
	for _, part := range [...]struct{ mark, text string }{{"@", holder}, {">", upstream}, {"=", detail}} {
		if part.text != "" {
			to = append(append(to, part.mark...), url.QueryEscape(part.text)...)
		}
	}
	return Steps(to).trim()
}

// trim drops the oldest steps but the first.
func (s Steps) trim() Steps {
	if strings.Count(string(s), ";") < MaxSteps {
		return s
	}
	first, rest, _ := strings.Cut(string(s), ";")
	_, rest, _ = strings.Cut(rest, ";")
	return Steps(first + ";" + rest)
}

// Timeline is what has become of the task, the oldest step first. Of a record whose steps were not all
// written down it tells what the record says itself.
func (t *Task) Timeline() []Step {
	s := t.Steps
	if s == "" {
		s = begun(t)
	}
	var told []Step
	holder := ""
	for text := range strings.SplitSeq(string(s), ";") {
		step := readStep(text, t.Created)
		if step.Holder != "" {
			holder = step.Holder
		}
		step.Holder = holder
		told = append(told, step)
	}
	if last := told[len(told)-1].What; t.State.Terminal() && last != StepEnded && last != StepRerun {
		told = append(told, Step{At: t.Updated, What: StepEnded, Detail: string(t.State)})
	}
	return told
}

// Reason is why the task failed, in one word; "": the tool says so, or nobody noted it.
func (t *Task) Reason() string {
	for _, step := range t.Timeline() {
		if step.What == StepEnded {
			_, reason, _ := strings.Cut(step.Detail, " ")
			return reason
		}
	}
	return ""
}

func readStep(text string, created time.Time) (step Step) {
	text, step.Detail = cutMark(text, "=")
	text, step.Upstream = cutMark(text, ">")
	text, step.Holder = cutMark(text, "@")
	what, after, _ := strings.Cut(text, "+")
	ms, _ := strconv.ParseInt(after, 36, 64)
	step.What, step.At = what, created.Add(time.Duration(ms)*time.Millisecond)
	return step
}

func cutMark(text, mark string) (before, after string) {
	before, after, _ = strings.Cut(text, mark)
	after, _ = url.QueryUnescape(after)
	return before, after
}
