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

// note makes the task's message of what the tool reports about the round.
func (h *Held) note(p mcp.Progress, m Message) {
	if !bytes.Equal(p.Token, strconv.AppendQuote(nil, h.token)) {
		return
	}
	said := saying{text: p.Text(), event: m.Event}
	if h.Task().Call != "" && len(m.Data) <= task.MaxSaidBytes {
		said.progress = bytes.Clone(mcp.ProgressParams(m.Data))
	}
	onFreshStack(func() { h.noteThat(said) })
}

// noteText makes text the task's message.
func (h *Held) noteText(text string) { h.noteThat(saying{text: text}) }

// noteThat adds what was said to what is not stored yet, and stores that if it is time to.
func (h *Held) noteThat(said saying) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := &h.saying
	s.text, s.event = cmp.Or(said.text, s.text), cmp.Or(said.event, s.event)
	if said.progress != nil {
		s.progress = said.progress
	}
	s.others = append(s.others, said.others...)
	s.others = s.others[max(0, len(s.others)-task.MaxSaid):]
	wait := SayEvery - time.Since(h.spoke)
	switch {
	case wait <= 0:
		h.say()
	case h.said == nil:
		h.said = time.AfterFunc(wait, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.said != nil {
				h.say()
			}
		})
	}
}

// sayNow stores what was noted and is not stored yet: what comes after it is not to be
// stored before.
func (h *Held) sayNow() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.said != nil {
		h.say()
	}
}

// say stores what was noted. What cannot be stored now is not worth waiting for. The
// caller has h.mu.
func (h *Held) say() {
	h.hush()
	h.spoke = time.Now()
	op := h.l.Op(task.Progress)
	if h.entry.Call != "" {
		op.Kind = task.Note
	}
	s := h.saying
	h.saying = saying{}
	op.Message, op.Round, op.Event, op.Progress, op.Says = s.text, h.entry.Round, s.event, s.progress, s.others
	ctx, cancel := context.WithTimeout(h.ctx, ledger.TellTime)
	defer cancel()
	switch _, err := h.stepLocked(ctx, op); {
	case err == nil:
		h.l.Notices.Changed(ctx, &h.entry.Task)
	case errors.Is(err, task.ErrTerminal), errors.Is(err, task.ErrStale):
		h.end(errFenced) // nobody waits for what the tool does any more
	}
}

// silence drops what was not stored yet.
func (h *Held) silence() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hush()
}

// hush has nothing be stored later. The caller has h.mu.
func (h *Held) hush() {
	if h.said != nil {
		h.said.Stop()
		h.said = nil
	}
}
