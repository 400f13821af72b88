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
	StepMoot       = "moot"        // what was asked is not waited for any more; Holder goes on
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
	var room [512]byte // most are no longer, and stay on the stack
	w := stepWriter(append(room[:0], s...))
	switch op.Kind {
	case Dispatch:
		w = w.after(before, op, StepSent, "", op.Upstream, "")
	case Pause, Open:
		if len(after.OpenAsks()) > len(before.OpenAsks()) {
			w = w.after(before, op, StepAsked, "", "", "")
		}
	case Answer:
		w = w.after(before, op, StepAnswered, after.Holder, "", "")
	case Moot:
		if len(op.Asks) > 0 && after.State == InputRequired {
			w = w.after(before, op, StepAsked, "", "", "")
		} else {
			w = w.after(before, op, StepMoot, after.Holder, "", "")
		}
	case Settle:
		w = w.after(before, op, StepAnswered, "", "", "")
	case Leave:
		w = w.after(before, op, StepHandedOver, "", "", "")
	case Adopt:
		w = w.after(before, op, StepAdopted, op.Holder, "", "")
	case Rerun:
		w = w.after(before, op, StepRerun, op.Holder, "", op.Again)
		return w.steps()
	}
	if after.State == Queued && before.State != Queued {
		w = w.after(before, op, StepQueued, "", "", "")
	}
	if after.State.Terminal() {
		w = w.after(before, op, StepEnded, "", "", ended(after.State, op.Reason))
	}
	if len(w) == len(s) {
		return s
	}
	return w.steps()
}

// ended is the detail of an end.
func ended(state State, reason string) string {
	if reason == "" {
		return string(state)
	}
	return string(state) + " " + reason
}

// begun are the steps of a task that has none written down: to make one costs no more so.
func begun(t *Task) Steps {
	return stepWriter(nil).begin(t).steps()
}

// stepWriter is Steps that are being written.
type stepWriter []byte

// begin writes the first steps of a task that has none written down.
func (w stepWriter) begin(t *Task) stepWriter {
	if t.Round > 0 {
		return w.add(0, StepMade, "", "", "") // by a berth that wrote none: nobody knows which
	}
	w = w.add(0, StepMade, t.Holder, "", "")
	if t.Terms.Slots > 0 {
		w = w.add(0, StepQueued, "", "", "")
	}
	return w
}

// after adds a step that op has made of the task before.
func (w stepWriter) after(before *Task, op *Op, what, holder, upstream, detail string) stepWriter {
	if len(w) == 0 {
		w = w.begin(before)
	}
	return w.add(op.At.Sub(before.Created), what, holder, upstream, detail)
}

func (w stepWriter) add(after time.Duration, what, holder, upstream, detail string) stepWriter {
	to := []byte(w)
	if len(to) > 0 {
		to = append(to, ';')
	}
	to = strconv.AppendInt(append(append(to, what...), '+'), after.Milliseconds(), 36)
	to = appendMarked(to, '@', holder)
	to = appendMarked(to, '>', upstream)
	return appendMarked(to, '=', detail)
}

func appendMarked(to []byte, mark byte, text string) []byte {
	if text == "" {
		return to
	}
	return append(append(to, mark), url.QueryEscape(text)...)
}

// steps returns what was written, less the oldest steps but the first where there are too many.
func (w stepWriter) steps() Steps {
	s := Steps(w)
	for strings.Count(string(s), ";") >= MaxSteps {
		first, rest, _ := strings.Cut(string(s), ";")
		_, rest, _ = strings.Cut(rest, ";")
		s = Steps(first + ";" + rest)
	}
	return s
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
