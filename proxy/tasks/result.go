package tasks

import (
	"context"
	"errors"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/proxy/reply"
	"berth/proxy/taskwatch"
	"berth/upgrade"
)

// resultWait is a tasks/result that waits for the end of a task of berth's own making
// (2025-11-25, tasks, "Result Retrieval"). A client that takes event streams is given one
// meanwhile, with what the call says and asks on its way. A client that hangs up ends
// nothing but that.
type resultWait struct {
	r       *Request
	watch   *taskwatch.Watch
	task    upgrade.Task     // as it was seen last
	waits   bool             // the task had not ended when it was asked for
	silence *reply.KeepAlive // nil: there is no stream

	delivery *delivery     // nil: there is no stream
	turn     chan struct{} // holds one when this stream is the one that is told from now on

	told
	progress reply.Progress
}

// awaitResult answers a tasks/result, however long that takes.
func (r *Request) awaitResult(ctx context.Context) error {
	id := r.Single().TaskID
	// Watched before it is looked at: no change may fall between the two.
	w := &resultWait{r: r, watch: r.Face.Poller.Watch(id)}
	defer w.watch.Stop()
	task, err := r.Face.Poller.Record(r.HTTP.Context(), id, r.Asker())
	if err := r.mayHear(ctx, task, err); err != nil {
		return err
	}
	if w.task = task; task.State.Terminal() {
		return w.end()
	}
	if err := r.Seat.Stand(); err != nil {
		return err
	}
	return w.run()
}

// run tells of the task until it has ended.
func (w *resultWait) run() error {
	w.waits = true
	err := w.open()
	defer w.r.Face.deliveries.leave(w)
	if w.isOpen() {
		defer w.silence.Stop()
	}
	if err == nil {
		err = w.follow()
	}
	if err != nil {
		return w.refuse(err)
	}
	return w.end()
}

// follow tells what is new of the task for as long as it goes on, and its last words when
// it has ended.
func (w *resultWait) follow() error {
	for {
		if err := w.tell(); err != nil || w.task.State.Terminal() {
			return err
		}
		w.task = w.task.Brief() // many may wait, for long
		if err := w.next(); err != nil {
			return err
		}
	}
}

// open gives the client the beginning of a stream, if it takes one.
func (w *resultWait) open() error {
	if !inbound.AcceptsEvents(w.r.HTTP.Header) {
		return nil
	}
	w.r.Out.OwnStreamHeaders()
	w.r.Out.WriteHeader(wire.StatusOK)
	w.silence = w.r.Out.NewKeepAlive()
	w.progress.Begin(w.r.Single().ProgressToken)
	w.r.Face.deliveries.join(w)
	return w.r.Out.WriteThrough(reply.Comment)
}

// isOpen reports whether the client has the beginning of a stream.
func (w *resultWait) isOpen() bool { return w.silence != nil }

// next waits until the task may have changed, and looks at it. What the store cannot say
// is no change; that there is no such task is the end.
func (w *resultWait) next() error {
	if err := w.pause(); err != nil {
		return err
	}
	task, err := w.r.Face.Poller.Record(w.r.HTTP.Context(), w.task.ID, w.r.Asker())
	switch {
	case errors.Is(err, upgrade.ErrUnknown):
		return err
	case err == nil:
		w.task = task
	}
	return nil
}

// pause waits for a word that the task has changed, for as long as none is needed. Who
// waits for what a draining berth holds can ask another one.
func (w *resultWait) pause() error {
	due := time.NewTimer(w.r.Face.Poller.Interval(w.task.Terms.PollInterval))
	defer due.Stop()
	for {
		var err error
		select {
		case <-w.watch.Changed():
			w.watch.Heed()
			return nil
		case <-due.C:
			return nil
		case <-w.turn:
			return nil
		case <-w.silence.Due():
			w.silence.Said()
			err = w.r.Out.WriteThrough(reply.Comment)
		case <-w.progress.Due():
			err = w.r.Out.WriteThrough(reply.Event(mcp.MessageWithRelatedTask(w.progress.Next(), w.task.ID)))
		case <-w.r.Face.Hurrying:
			err = fault.Draining
		case <-w.r.HTTP.Context().Done():
			err = fault.ErrClientGone
		}
		if err != nil {
			return err
		}
	}
}

// end gives the client what the call returned. One who has waited goes on to wait for a
// store that is away, and for room.
func (w *resultWait) end() error {
	for {
		view, err := w.r.Face.Poller.View(w.r.HTTP.Context(), w.task.ID, w.r.Asker())
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
	w.r.Rec.ToolFailed = view.ToolFailed
	response := view.CoreResponse(w.r.ID)
	if !w.isOpen() {
		w.r.Out.Respond(wire.StatusOK, response...)
		return nil
	}
	return w.r.Out.WriteEvent(response)
}

// refuse gives an error in place of the response.
func (w *resultWait) refuse(err error) error {
	if !w.isOpen() {
		return err
	}
	answer := w.r.Word(err)
	if answer == nil {
		return err
	}
	w.r.Rec.Err, w.r.Rec.Code = err, answer.Code
	if err := w.r.Out.WriteThrough(reply.Event(answer.Body(w.r.ID))); err != nil {
		return err
	}
	return nil
}
