package upgrade

import (
	"context"
	"errors"
	"sync"
	"time"

	"berth/internal/storage"
	"berth/routing"
)

// Why a held call is given up.
var (
	errCancelled = errors.New("upgrade: cancelled by the client")
	errFenced    = errors.New("upgrade: another berth has taken this one for dead")
	errDiscarded = errors.New("upgrade: the client is gone, or has its answer")
	errShutdown  = errors.New("upgrade: the berth that held the call was shut down")
	errLeft      = errors.New("upgrade: left to another berth")
)

// Held is a call that this process keeps for a task: from its record on to its outcome,
// or to the next time that the task waits for input.
type Held struct {
	t     *Tasks
	call  *Call
	guest Attended // nil: nobody waits for the answer itself
	ctx   context.Context
	end   context.CancelCauseFunc
	done  chan struct{} // closed when nothing is held any more
	begun sync.Once     // run was begun
	token string        // progressToken of the rounds
	due   int           // the round that is in flight, or about to be; run's

	mu     sync.Mutex // held while a step is taken; guards the fields below
	entry  entry      // as this process last saw the record
	said   *time.Timer
	saying string // progress that is not stored yet
	spoke  time.Time
}

// Attended is a client that still waits for the answer itself.
type Attended interface {
	// Send sends the first round, in place of the pool's.
	Send(ctx context.Context, u *routing.Upstream, c *Call, maxAnswer int64) (Exchange, error)
	// Failed is told why the round was not sent, or has failed. It reports whether the
	// client was told so, and so needs no task.
	Failed(err error) bool
}

// hold makes the call of e this process's.
func (t *Tasks) hold(e entry, c *Call) *Held {
	h := &Held{t: t, call: c, entry: e, done: make(chan struct{}), token: "berth-" + newName(9), due: e.due()}
	h.ctx, h.end = context.WithCancelCause(context.Background())
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held[e.ID] = h
	return h
}

// Task returns the record as this process last saw it.
func (h *Held) Task() Task { return h.standing().Task }

// ProgressToken is what the rounds bear as progressToken. It tells nothing of the task.
func (h *Held) ProgressToken() string { return h.token }

// Done is closed when the call is not held any more.
func (h *Held) Done() <-chan struct{} { return h.done }

// Err says why the call was given up, nil if it was not.
func (h *Held) Err() error { return context.Cause(h.ctx) }

// Start begins the call, in a goroutine of its own that no client's departure ends. guest
// is nil where the client has the task's handle already.
func (h *Held) Start(guest Attended) {
	h.guest = guest
	h.start()
}

func (h *Held) start() { h.begun.Do(func() { go h.run() }) }

// Discard gives the call up together with its task, which nobody was told of.
func (h *Held) Discard() {
	h.end(errDiscarded)
	h.start()
}

// Handed notes that the client has the handle: from then on another berth may go on with
// what was not sent yet.
func (h *Held) Handed() {
	if task := h.Task(); task.Handed || !task.Waiting() {
		return
	}
	ctx, cancel := context.WithTimeout(h.ctx, storeTime)
	defer cancel()
	_, _ = h.step(ctx, h.t.op(Hand)) // if it is not noted, the task fails with its holder
}

func (h *Held) standing() entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.entry
}

// storeTime bounds one step, of several operations on the store.
const storeTime = 5 * time.Second

// step takes one step, and keeps what the record is then.
func (h *Held) step(ctx context.Context, op Op) (entry, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stepLocked(ctx, op)
}

func (h *Held) stepLocked(ctx context.Context, op Op) (entry, error) {
	e, err := h.t.records.apply(ctx, h.entry, op)
	if errors.Is(err, ErrUnknown) && h.putBack(ctx) == nil {
		e, err = h.t.records.apply(ctx, h.entry, op)
	}
	if err == nil || errors.Is(err, ErrTerminal) || errors.Is(err, ErrStale) {
		h.entry = e
	}
	return e, err
}

// insist takes a step as soon as the store takes it. It ends with the call, or with the
// life of the task.
func (h *Held) insist(ctx context.Context, take func(ctx context.Context) error) error {
	task := h.Task()
	ctx, cancel := context.WithDeadline(ctx, task.Expires())
	defer cancel()
	for {
		err := take(ctx)
		if !errors.Is(err, storage.ErrUnavailable) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(retryStore):
		}
	}
}

// retryStore is how often a step is tried again that the store did not take. With the
// store's own probing it keeps the promise that results are on all berths within two
// seconds of its return.
const retryStore = 250 * time.Millisecond

// run takes the call through its rounds.
func (h *Held) run() {
	defer h.release()
	for bare := 0; ; bare++ {
		again, err := h.round(bare)
		switch {
		case errors.Is(err, ErrAnswered), errors.Is(err, errDiscarded):
			h.end(errDiscarded)
			return
		case errors.Is(err, errFenced), errors.Is(err, errCancelled), errors.Is(err, errLeft) && h.waits():
			return
		case err != nil && h.guest != nil && h.guest.Failed(err):
			h.end(errDiscarded)
			return
		case err != nil:
			h.fail(err)
			return
		case !again:
			return
		}
	}
}

// waits reports whether another process could go on from where the call stands.
func (h *Held) waits() bool {
	task := h.Task()
	return task.Waiting() || task.Follows != ""
}

// release gives back what the call took. A task that nobody was told of goes with it.
func (h *Held) release() {
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	task := h.Task()
	h.silence()
	switch err := h.Err(); {
	case errors.Is(err, errDiscarded):
		if h.t.forget(ctx, &task) != nil {
			h.t.regret(task)
		}
	case errors.Is(err, errLeft) && h.waits():
		// It stays listed, for whoever finds this process gone.
	default:
		h.t.lists.strike(ctx, h.t.lists.tasksOf(h.t.holder), task.ID)
	}
	h.t.mu.Lock()
	delete(h.t.held, task.ID)
	h.t.mu.Unlock()
	h.end(nil)
	close(h.done)
}

// fail ends the task with what went wrong.
func (h *Held) fail(err error) {
	failure := wordFailure(err, h.Task())
	h.finish(Failed, failure.Object(), failure.Message)
}

// finish ends the task with an outcome, as soon as the store takes it. If the task has
// ended otherwise by then, or is another's, the outcome is late: it is dropped.
func (h *Held) finish(end State, outcome []byte, message string) {
	// Neither a cancel nor a shutdown undoes what the tool has returned.
	ctx := context.WithoutCancel(h.ctx)
	op := h.t.op(Finish)
	op.End, op.Message, op.Outcome, op.Round = end, message, op.ID, h.due
	if size := int64(len(outcome)); h.t.unkept.take(size) {
		defer h.t.unkept.give(size)
	} else {
		op.End, op.Message, outcome = Failed, errUnkept.Message, errUnkept.Object()
	}
	err := h.insist(ctx, func(ctx context.Context) error { return h.store(ctx, op, outcome) })
	switch {
	case err == nil:
		task := h.Task()
		h.t.metrics.ended(ctx, task)
		h.t.leave(ctx, &task)
		h.t.changed(ctx, task.ID)
	case errors.Is(err, ErrTerminal), errors.Is(err, ErrStale):
		h.t.metrics.late.Add(ctx, 1)
		h.t.records.dropOutcome(ctx, h.Task().ID, op.Outcome)
	default:
		h.t.log.Error("the outcome of a task is lost", "task", h.Task().ID, "error", err)
	}
}

// store stores an outcome and the op that names it. The store may have lost the one
// without the other meanwhile, so both are tried anew each time.
func (h *Held) store(ctx context.Context, op Op, outcome []byte) error {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	task := h.Task()
	if err := h.t.records.keepOutcome(ctx, task.ID, op.Outcome, outcome, time.Until(task.Expires())); err != nil {
		return err
	}
	_, err := h.step(ctx, op)
	return err
}
