package runner

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"berth/internal/mcp"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
	"berth/upgrade/transport"
)

// SayEvery is how often the progress of one task is stored at most: what the tool says in
// between is overtaken.
const SayEvery = time.Second

// saying is what a round has said, as far as it is not stored.
type saying struct {
	text     string            // the task's message; "": as it was
	event    string            // the last event of it; "" if it has no id
	progress json.RawMessage   // params of the last notifications/progress; nil: none
	others   []json.RawMessage // other notifications
}

// notes are what rounds report, stored now and then. h.mu guards the fields below the first.
type notes struct {
	h      *Held
	timer  *time.Timer // of what is stored later; nil: nothing is
	unsaid saying      // what is not stored yet
	spoke  time.Time
}

// progress makes the task's message of what the tool reports about the round.
func (n *notes) progress(p mcp.Progress, m transport.Message) {
	if !bytes.Equal(p.Token, strconv.AppendQuote(nil, n.h.token)) {
		return
	}
	said := saying{text: p.Text(), event: m.Event}
	if n.h.record().Call != "" && len(m.Data) <= task.MaxSaidBytes {
		said.progress = bytes.Clone(mcp.ProgressParams(m.Data))
	}
	onFreshStack(func() { n.add(said) })
}

// text makes text the task's message.
func (n *notes) text(text string) { n.add(saying{text: text}) }

// add adds what was said to what is not stored yet, and stores that if it is time to.
func (n *notes) add(said saying) {
	n.h.mu.Lock()
	defer n.h.mu.Unlock()
	s := &n.unsaid
	s.text, s.event = cmp.Or(said.text, s.text), cmp.Or(said.event, s.event)
	if task.Rises(s.progress, said.progress) {
		s.progress = said.progress
	}
	s.others = append(s.others, said.others...)
	s.others = s.others[max(0, len(s.others)-task.MaxSaid):]
	wait := SayEvery - time.Since(n.spoke)
	switch {
	case wait <= 0:
		n.store()
	case n.timer == nil:
		n.timer = time.AfterFunc(wait, func() {
			n.h.mu.Lock()
			defer n.h.mu.Unlock()
			if n.timer != nil {
				n.store()
			}
		})
	}
}

// flush stores what was noted and is not stored yet: what comes after it is not to be
// stored before.
func (n *notes) flush() {
	n.h.mu.Lock()
	defer n.h.mu.Unlock()
	if n.timer != nil {
		n.store()
	}
}

// store stores what was noted. What cannot be stored now is not worth waiting for. The
// caller has h.mu.
func (n *notes) store() {
	n.stop()
	n.spoke = time.Now()
	op := n.h.l.Op(task.Progress)
	if n.h.entry.Call != "" {
		op.Kind = task.Note
	}
	s := n.unsaid
	n.unsaid = saying{}
	op.Message, op.Round, op.Event, op.Progress, op.Says = s.text, n.h.entry.Round, s.event, s.progress, s.others
	ctx, cancel := context.WithTimeout(n.h.ctx, ledger.TellTime)
	defer cancel()
	switch _, err := n.h.stepLocked(ctx, op); {
	case err == nil:
		n.h.l.Notices.Changed(ctx, n.h.entry.Task)
	case errors.Is(err, task.ErrTerminal), errors.Is(err, task.ErrStale):
		n.h.end(errFenced) // nobody waits for what the tool does any more
	}
}

// drop drops what was not stored yet.
func (n *notes) drop() {
	n.h.mu.Lock()
	defer n.h.mu.Unlock()
	n.stop()
}

// stop has nothing be stored later. The caller has h.mu.
func (n *notes) stop() {
	if n.timer != nil {
		n.timer.Stop()
		n.timer = nil
	}
}
