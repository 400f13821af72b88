package tasks

import (
	"errors"

	"berth/internal/wire"
	"berth/proxy/audit"
	"berth/proxy/fault"
	"berth/proxy/reply"
	"berth/upgrade"
)

// end gives the client what the call returned. One who has waited goes on to wait for a
// store that is away, and for room.
func (w *resultWait) end() error {
	for {
		view, err := w.Face.Poller.View(w.HTTP.Context(), w.task.ID, w.Asker())
		if err == nil {
			return w.answer(view)
		}
		if w.waits && !errors.Is(err, upgrade.ErrUnknown) {
			err = w.pause()
		}
		if err != nil {
			return w.refuse(err)
		}
	}
}

// answer gives the response, as the whole answer or as the last event.
func (w *resultWait) answer(view upgrade.View) error {
	defer view.Return()
	w.Rec.ToolFailed = view.ToolFailed
	w.Rec.Does(audit.Told, "")
	response := view.CoreResponse(w.ID)
	if !w.isOpen() {
		w.Out.Respond(wire.StatusOK, response...)
		return nil
	}
	return w.Out.WriteEvent(response)
}

// refuse gives an error in place of the response. On a stream a cancelled request has neither
// (2025-11-25, cancellation, "Behavior Requirements"): without event ids nobody resumes that.
func (w *resultWait) refuse(err error) error {
	if !w.isOpen() {
		return err
	}
	answer := w.Word(err)
	if answer == nil {
		return err
	}
	w.Rec.Err, w.Rec.Code = err, answer.Code
	if errors.Is(err, fault.Cancelled) {
		return nil
	}
	if err := w.Out.WriteThrough(reply.Event(answer.Body(w.ID))); err != nil {
		return err
	}
	return nil
}
