package health

import (
	"cmp"
	"errors"
	"syscall"
	"time"
)

// answer notes an answer, whatever it says: the upstream is there. It reports whether that
// ends a silence that was confirmed.
func (c *condition) answer() (back bool) {
	if !c.silent() {
		return false
	}
	close(c.answers)
	back = c.confirmed
	c.silentSince, c.silence, c.confirmed, c.refuses, c.answers = time.Time{}, nil, false, false, nil
	return back
}

// fallSilent notes that the upstream does not answer.
func (c *condition) fallSilent(cause error) (first bool) {
	c.silence, c.refuses = cause, errors.Is(cause, syscall.ECONNREFUSED)
	if c.silent() {
		return false
	}
	c.silentSince, c.answers = time.Now(), make(chan struct{})
	return true
}

// confirm notes that a probe failed with cause, and returns how the silence showed before
// if this is what confirms it. An answer that came meanwhile counts more.
func (c *condition) confirm(cause error) (confirmed error) {
	if !c.silent() {
		return nil
	}
	if !c.confirmed {
		c.confirmed, confirmed = true, c.silence
	}
	c.silence, c.refuses = cause, errors.Is(cause, syscall.ECONNREFUSED)
	return confirmed
}

// Silent reports whether the upstream was found not to answer and no probe has
// got through since.
func (h *Health) Silent() bool { return h.is().silent() }

// Answering returns a channel that is closed once the upstream is not silent; it is
// closed already if it answers.
func (h *Health) Answering() <-chan struct{} {
	return cmp.Or(h.is().answers, answering)
}

// answering is what Answering returns for who answers.
var answering = func() chan struct{} {
	closed := make(chan struct{})
	close(closed)
	return closed
}()

// Refuses reports whether the upstream is silent because nobody listens at its
// address, as far as the last attempt showed.
func (h *Health) Refuses() bool { return h.is().refuses }

// DownFor returns how long the upstream has been silent, and probed in vain; 0 if
// it is not. A request that broke says nothing of the time since.
func (h *Health) DownFor() time.Duration {
	c := h.is()
	if !c.silent() {
		return 0
	}
	return max(time.Since(c.silentSince), 1)
}

// Answer notes an answer, whatever it says, and reports whether that ends a silence that a probe has confirmed.
func (h *Health) Answer() (back bool) {
	h.change(func(c *condition) { back = c.answer() })
	return back
}

// FallSilent notes that the upstream does not answer, and reports whether that is new.
func (h *Health) FallSilent(cause error) (first bool) {
	h.change(func(c *condition) { first = c.fallSilent(cause) })
	return first
}

// Confirm notes that a probe of the silent upstream failed with cause, and returns how the silence showed before, if this is what
// confirms it. An answer that came meanwhile counts more.
func (h *Health) Confirm(cause error) (confirmed error) {
	h.change(func(c *condition) { confirmed = c.confirm(cause) })
	return confirmed
}
