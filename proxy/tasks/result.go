package tasks

import (
	"bytes"
	"context"
	"errors"
	"time"

	"berth/internal/mcp/taskwire"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/reply"
	"berth/proxy/taskwatch"
	"berth/upgrade"
)

// resultWait is a tasks/result that waits for the end of a task of berth's own making
// (2025-11-25, tasks, "Result Retrieval"). A client that takes event streams is given one
// meanwhile, with what the call says and asks on its way. A client that hangs up, or cancels
// the request, ends nothing but that.
type resultWait struct {
	*Request

	ctx     context.Context // ends when its client cancels the request
	watch   *taskwatch.Watch
	task    upgrade.Task     // as it was seen last
	waits   bool             // the task had not ended when it was asked for
	silence *reply.KeepAlive // nil: there is no stream

	delivery *delivery     // nil: there is no stream
	turn     chan struct{} // holds one when this stream is the one that is told from now on

	sent
	progress reply.Progress
}

// awaitResult answers a tasks/result, however long that takes.
func (r *Request) awaitResult(ctx context.Context) error {
	id := r.Single().TaskID
	// Watched before it is looked at: no change may fall between the two.
	w := &resultWait{Request: r, ctx: ctx, watch: r.Face.Poller.Watch(id)}
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
	defer w.Face.deliveries.leave(w)
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
	if !w.HTTP.Header.Streams() {
		return nil
	}
	w.Out.OwnStreamHeaders()
	w.Out.WriteHeader(wire.StatusOK)
	w.silence = w.Out.NewKeepAlive()
	if own := w.Single().ProgressToken; !bytes.Equal(own, w.task.ProgressToken) {
		w.progress.Begin(own)
	}
	w.Face.deliveries.join(w)
	return w.Out.WriteThrough(reply.Comment)
}

// isOpen reports whether the client has the beginning of a stream.
func (w *resultWait) isOpen() bool { return w.silence != nil }

// next waits until the task may have changed, and looks at it. What the store cannot say
// is no change; that there is no such task is the end.
func (w *resultWait) next() error {
	if err := w.pause(); err != nil {
		return err
	}
	task, err := w.Face.Poller.Record(w.HTTP.Context(), w.task.ID, w.Asker())
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
	due := time.NewTimer(w.Face.Poller.Interval(w.task.Terms.PollInterval))
	defer due.Stop()
	for {
		var err error
		select {
		case <-w.watch.Changed():
			w.watch.TakeChanges()
			return nil
		case <-due.C:
			return nil
		case <-w.turn:
			return nil
		case <-w.silence.Due():
			w.silence.Said()
			err = w.Out.WriteThrough(reply.Comment)
		case <-w.progress.Due():
			err = w.Out.WriteThrough(reply.Event(taskwire.RelatedMessage(w.progress.Next(), w.task.ID)))
		case <-w.Face.Releasing:
			err = fault.Draining
		case <-w.HTTP.Context().Done():
			err = fault.ErrClientGone
		case <-w.ctx.Done():
			err = fault.Cancelled
		}
		if err != nil {
			return err
		}
	}
}
