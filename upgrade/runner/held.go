package runner

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/storage"
	"berth/routing"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// Why a held call is given up.
var (
	errCancelled = errors.New("upgrade: cancelled by the client")
	errFenced    = errors.New("upgrade: another berth has taken this one for dead")
	errDiscarded = errors.New("upgrade: the client is gone, or has its answer")
)

// Held is a call that this process keeps for a task: from its record on to its outcome,
// or to the next time that the task waits for input.
type Held struct {
	r      *Runner
	l      *ledger.Ledger
	caller string // whom it counts for
	size   int64  // of the call, in bytes
	call   task.PackedCall
	client WaitingClient // nil: nobody waits for the answer itself
	ctx    context.Context
	end    context.CancelCauseFunc
	done   chan struct{} // closed when nothing is held any more
	begun  sync.Once     // of run
	token  string        // progressToken of the rounds; it tells nothing of the task
	room   *task.Room    // for answers
	round  round         // run's

	ID      string    // of the task
	Expires time.Time // when the task does, as this process counts

	doubtful atomic.Bool // the store may have lost the record: it is to be looked at

	mu      gate         // held while a step is taken; guards the fields below
	entry   ledger.Entry // as this process last saw the record
	sure    time.Time    // when that was
	repairs int          // how often the record was put right, or was to be
	slot    slot
	notes   notes
}

// gate is a mutex that is held while others are waited for.
type gate chan struct{}

func (g gate) Lock()   { g <- struct{}{} }
func (g gate) Unlock() { <-g }

// WaitingClient is a client that still waits for the answer itself, or for a refusal in place
// of its task.
type WaitingClient interface {
	// Send sends the first round, in place of the pool's.
	Send(ctx context.Context, u *routing.Upstream, c *task.Call, maxAnswer int64) (Exchange, error)
	// Failed is told why the round was not sent, or has failed. It reports whether the
	// client was told so, and so needs no task.
	Failed(err error) bool
	// Waits is told that the round waits for its turn.
	Waits()
}

// Hold makes the call of e this process's. The caller has claimed the task.
func (r *Runner) Hold(e ledger.Entry, c *task.Call) *Held {
	h := r.newHeld(e, c)
	r.ledger.Quota.Count(e.ID, e.Caller, e.Weight(), h.holds(&e.Task), h.Expires.Add(ledger.Spare))
	r.Calls.hold(h)
	return h
}

// newHeld returns the call of e, which is nobody's yet.
func (r *Runner) newHeld(e ledger.Entry, c *task.Call) *Held {
	h := &Held{
		r: r, l: r.ledger, caller: e.Caller, size: c.Size(), call: task.Pack(c), token: "berth-" + task.NewName(9),
		ID: e.ID, Expires: r.ledger.Expires(e.Task), done: make(chan struct{}), mu: make(gate, 1), entry: e, sure: time.Now(),
	}
	h.round = round{Held: h, due: e.Due(), stream: stream{round: &h.round}}
	h.slot.h, h.notes.h = h, h
	if e.Call != "" {
		h.token = e.Call
	}
	h.room = r.Unsaved.Room(h.caller, h.Expires)
	h.ctx, h.end = context.WithCancelCause(context.Background())
	return h
}

// holds is how many bytes of a call are in memory whose record is this.
func (h *Held) holds(t *task.Task) int64 { return h.size + t.Recorded() }

// recount counts what the call keeps and holds after it was asked something, or is not any more.
func (h *Held) recount(t *task.Task) { h.l.Quota.Recount(h.ID, t.Weight(), h.holds(t)) }

// Task returns the record as this process last saw it.
func (h *Held) Task() task.Task { return h.Standing().Task }

// givenUp says why the call was given up, nil if it was not.
func (h *Held) givenUp() error { return context.Cause(h.ctx) }

// Start begins the call, in a goroutine of its own that no client's departure ends. client
// is nil where the client has the task's handle already.
func (h *Held) Start(client WaitingClient) {
	h.begun.Do(func() {
		h.client = client
		go h.run()
	})
}

// Discard gives the call up together with its task, which nobody was told of.
func (h *Held) Discard() {
	h.end(errDiscarded)
	h.Start(nil)
}

// handTime bounds how long a handle waits for the store to note that it goes out. What is
// not noted by then is lost only if this process dies as well.
const handTime = 2 * time.Second

// HandOut has give give the client the handle, once it is durable that the client has it:
// from then on another berth may go on with what was not sent. A round that is about to be
// sent says so itself, so that this costs one write for a call that waits, and else none.
func (h *Held) HandOut(give func() error) error {
	if t := h.Task(); !t.Handed && t.Waiting() {
		ctx, cancel := context.WithTimeout(h.ctx, handTime)
		defer cancel()
		op := h.l.Op(task.Hand)
		_ = h.insist(ctx, func(ctx context.Context) error {
			_, err := h.step(ctx, op)
			return err
		})
	}
	return give()
}

// Handed notes that the client has the handle: from then on others may be told of the task.
func (h *Held) Handed() {
	t := h.Task()
	if t.Withheld.IsZero() && (t.Handed || !t.Waiting()) {
		return
	}
	ctx, cancel := context.WithTimeout(h.ctx, ledger.StoreTime)
	defer cancel()
	_, _ = h.step(ctx, h.l.Op(task.Hand)) // if it is not noted, a call that was not sent fails with its holder
}

// FreeKey gives back the idempotency key of a call whose client is about to get something
// else in place of the task. Where the store does not take that, it is freed with the task.
func (h *Held) FreeKey(ctx context.Context) {
	t := h.Task()
	if err := h.l.Once.Free(ctx, &t); err != nil {
		h.r.Log.Debug("an idempotency key is freed later", "task", t.ID, "error", err)
	}
}

func (h *Held) Standing() ledger.Entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.entry
}

// step takes one step, and keeps what the record is then.
func (h *Held) step(ctx context.Context, op task.Op) (ledger.Entry, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stepLocked(ctx, op)
}

func (h *Held) stepLocked(ctx context.Context, op task.Op) (ledger.Entry, error) {
	began := time.Now()
	e, err := h.l.Records.Apply(ctx, h.entry, op)
	repaired, failed := h.repair(ctx, e, err)
	if failed != nil {
		return e, failed // what is lost for now is not lost for good
	}
	if repaired {
		e, err = h.l.Records.Apply(ctx, h.entry, op)
	}
	if err == nil || errors.Is(err, task.ErrTerminal) || errors.Is(err, task.ErrStale) {
		h.entry, h.sure = e, began
	}
	return e, err
}

// insist takes a step as soon as the store takes it. It ends with the call, or with the
// life of the task.
func (h *Held) insist(ctx context.Context, take func(ctx context.Context) error) error {
	ctx, cancel := context.WithDeadline(ctx, h.Expires.Add(ledger.Spare)) // of which it can still say that time was up
	defer cancel()
	for {
		err := take(ctx)
		late := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil // of the step: the process may have been frozen
		if !late && !errors.Is(err, storage.ErrUnavailable) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(retryStore):
		}
	}
}

// must takes a step of the round as soon as the store takes it.
func (h *Held) must(ctx context.Context, op task.Op) error {
	err := h.insist(ctx, func(ctx context.Context) error {
		_, err := h.step(ctx, op)
		return err
	})
	if errors.Is(err, task.ErrTerminal) || errors.Is(err, task.ErrStale) {
		return errFenced
	}
	if err != nil {
		return h.round.cause(ctx, err)
	}
	return nil
}

// retryStore is how often a step is tried again that the store did not take. With the
// store's own probing it keeps the promise that results are on all berths within two
// seconds of its return.
const retryStore = 250 * time.Millisecond

// run takes the call through its rounds, and lets go of it.
func (h *Held) run() { h.release(h.round.all()) }

// all reports whether the task is to be forgotten: nobody was told of it, or the client
// has its answer.
func (rd *round) all() (forget bool) {
	for bare := 0; ; bare++ {
		again, err := rd.play(bare)
		switch {
		case errors.Is(err, ErrAnswered), errors.Is(err, errDiscarded):
			return true
		case errors.Is(err, errFenced), errors.Is(err, errCancelled):
			return false
		case err != nil && rd.client != nil && rd.client.Failed(err):
			return true
		case errors.Is(err, task.ErrShutdown) && rd.canBeLeft():
			return false // it stays listed, for whoever finds this process gone
		case err != nil:
			rd.fail(err)
			return errors.Is(rd.givenUp(), errDiscarded)
		case !again:
			return errors.Is(rd.givenUp(), errDiscarded)
		}
	}
}

// canBeLeft reports whether another process, or this one's successor, can go on with the
// call: it was not sent, is followed, or may run twice; its client has the handle, and what
// authorises it is kept.
func (h *Held) canBeLeft() bool {
	t := h.Task()
	pool := h.r.Pools[t.Pool]
	return h.l.Store.Durable() && t.MayGoOn() && t.Handed &&
		(h.call.Bare || h.l.Records.Keys.Given() || pool != nil && pool.OwnCredentials)
}

// release gives back what the call took.
func (h *Held) release(forget bool) {
	ctx, cancel := context.WithTimeout(context.Background(), ledger.StoreTime)
	defer cancel()
	h.notes.drop()
	t := h.Task()
	if h.leave(ctx, &t, forget) == nil {
		h.l.Lists.Remove(ctx, h.l.Lists.TasksOf(h.l.Holder), t.ID)
	} // else it stays listed, and the next beat sees to it
	h.r.Calls.letGo(t.ID)
	h.l.SettleQuota(&t)
	h.end(nil)
	close(h.done)
}

// errUnended says that a task was not seen to end.
var errUnended = errors.New("upgrade: the task has not ended")

// leave takes the task out of the lists that it has no place in.
func (h *Held) leave(ctx context.Context, t *task.Task, forget bool) error {
	switch {
	case forget:
		if h.r.forget(ctx, t) != nil {
			h.r.abortLater(*t)
		}
		return h.r.LeaveSession(ctx, t, h.call.Unpack())
	case t.Holder == h.l.Holder:
		return errUnended
	case !t.State.Terminal():
		return nil
	case t.State == task.Cancelled:
		h.l.LeaveLive(ctx, t) // whoever cancelled it may have died before
	}
	if err := h.r.LeaveSession(ctx, t, h.call.Unpack()); err != nil {
		return err
	}
	h.l.DropCall(ctx, t.ID)
	return nil
}

// fail ends the task with what went wrong.
func (rd *round) fail(err error) {
	failure := task.FailureOf(err, rd.Task())
	rd.finish(ending{state: task.Failed, outcome: failure.Object(), message: failure.Message})
}

// ending is how a call has ended.
type ending struct {
	state      task.State // Completed or Failed
	outcome    []byte     // the result, or the error
	message    string     // for people
	toolFailed bool       // the result says isError
}

// finish ends the task with an outcome, as soon as the store takes it. If the task has
// ended otherwise by then, or is another's, the outcome is late: it is dropped.
func (rd *round) finish(e ending) {
	// Neither a cancel nor a shutdown undoes what the tool has returned.
	ctx := context.WithoutCancel(rd.ctx)
	op, outcome := rd.l.Op(task.Finish), e.outcome
	op.End, op.Message, op.ToolFailed, op.Outcome, op.Round = e.state, e.message, e.toolFailed, op.ID, rd.due
	if !rd.l.Quota.Take(rd.ID, int64(len(outcome))) {
		rd.r.Metrics.Refused(ctx, "outcome")
		op.End, op.Message, op.ToolFailed, outcome = task.Failed, task.ErrNotKept.Message, false, task.ErrNotKept.Object()
	}
	if rd.room.Take(ctx, int64(len(outcome))) != nil {
		op.End, op.Message, op.ToolFailed, outcome = task.Failed, task.ErrUnsaved.Message, false, task.ErrUnsaved.Object()
	}
	defer rd.room.Give()
	op.Size = int64(len(outcome))
	err := rd.insist(ctx, func(ctx context.Context) error { return rd.store(ctx, op, outcome) })
	switch {
	case err == nil:
		t := rd.Task()
		rd.r.Metrics.ended(ctx, t)
		rd.l.LeaveLive(ctx, &t)
		rd.l.Notices.Changed(ctx, &t)
	case errors.Is(err, task.ErrTerminal), errors.Is(err, task.ErrStale):
		rd.r.Metrics.late.Add(ctx, 1)
		rd.l.Records.DropOutcome(ctx, rd.Task().ID, op.Outcome)
	default:
		rd.r.Log.Error("the outcome of a task is lost", "task", rd.Task().ID, "error", err)
	}
}

// store stores an outcome and the op that names it. The store may have lost the one
// without the other meanwhile, so both are tried anew each time.
func (rd *round) store(ctx context.Context, op task.Op, outcome []byte) error {
	ctx, cancel := context.WithTimeout(ctx, ledger.StoreTime)
	defer cancel()
	keep := func() error {
		return rd.l.Records.KeepOutcome(ctx, rd.ID, op.Outcome, outcome, time.Until(rd.Expires))
	}
	before := rd.repaired()
	if err := keep(); err != nil {
		return err
	}
	rd.mu.Lock()
	defer rd.mu.Unlock()
	if _, err := rd.stepLocked(ctx, op); err != nil {
		return err
	}
	if rd.repairs != before {
		return keep() // what lost the record has lost this too
	}
	return nil
}

// repaired counts how often the record was put right, or was to be.
func (h *Held) repaired() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.repairs
}
