package upgrade

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"time"

	"berth/internal/mcp"
)

// sayEvery is how often the progress of one task is stored at most: what the tool says in
// between is overtaken.
const sayEvery = time.Second

// note makes the task's message of what the tool reports about the round.
func (h *Held) note(p mcp.Progress) {
	if !bytes.Equal(p.Token, strconv.AppendQuote(nil, h.token)) {
		return
	}
	aside(func() { h.noteText(p.Text()) })
}

// noteText makes text the task's message.
func (h *Held) noteText(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.saying = text
	wait := sayEvery - time.Since(h.spoke)
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

// say stores what was noted last. What cannot be stored now is not worth waiting for. The
// caller has h.mu.
func (h *Held) say() {
	h.hush()
	h.spoke = time.Now()
	op := h.t.op(Progress)
	op.Message, op.Round = h.saying, h.entry.Round
	ctx, cancel := context.WithTimeout(h.ctx, tellTime)
	defer cancel()
	switch _, err := h.stepLocked(ctx, op); {
	case err == nil:
		h.t.changed(ctx, &h.entry.Task)
	case errors.Is(err, ErrTerminal), errors.Is(err, ErrStale):
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
