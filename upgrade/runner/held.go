package runner

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"berth/internal/gate"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/routing"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
	"berth/upgrade/transport"
)

// Why a held call is given up.
var (
	errCancelled = fmt.Errorf("upgrade: %w", mcp.ErrCancelled)
	errFenced    = errors.New("upgrade: another berth has taken this one for dead")
	errDiscarded = errors.New("upgrade: the client is gone, or has its answer")
)

// Held is a call that this process keeps for a task: from its record on to its outcome,
// or to the next time that the task waits for input.
type Held struct {
	r      *Runner
	l      *ledger.Ledger
	caller string // whom it counts for
	whose  string // its principal
	pool   string
	made   time.Time // by the store's clock
	size   int64     // of the call, in bytes
	call   task.PackedCall
	client WaitingClient // nil: nobody waits for the answer itself
	ctx    context.Context
	end    context.CancelCauseFunc
	done   chan struct{}  // closed when nothing is held any more; nil: nobody waits for that. Guarded by the table's lock
	begun  atomic.Bool    // run has
	token  string         // of the rounds; see First
	first  []byte         // the first of them, as it is sent; nil: it is made of the call. run's
	header *wire.Header   // its headers, likewise
	to     *routing.Lease // where it goes, as the record says already; nil: the record does not, or it was sent. run's
	room   task.Room      // for answers
	parted bool           // all is done for the task that has ended; run's
	round  round          // run's

	renewal renewal // of what authorises the call

	ID      string    // of the task
	Expires time.Time // when the task does, as this process counts

	doubtful   atomic.Bool             // the store may have lost the record: it is to be looked at
	unattended atomic.Bool             // its client waits for nothing but the task
	parting    atomic.Pointer[parting] // of a round that was sent while its client waited; nil: none was
	glanced    atomic.Int32            // the state as glance saw it last, as a place in glancedStates

	mu      gate.Mutex   // held while a step is taken; guards the fields below
	entry   ledger.Entry // as this process last saw the record
	sure    time.Time    // when that was
	stored  bool         // the call is in the store
	repairs int          // how often the record was put right, or was to be
	slot    slot
	notes   notes
}

// WaitingClient is a client that still waits for the answer itself, or for a refusal in place
// of its task.
type WaitingClient interface {
	// Send sends the first round, in place of the pool's.
	Send(ctx context.Context, u *routing.Upstream, c *task.Call, maxAnswer int64) (transport.Exchange, error)
	// Failed is told why the round was not sent, or has failed. It reports whether the
	// client was told so, and so needs no task.
	Failed(err error) bool
	// Waits is told that the round waits for its turn.
	Waits()
}

// Hold makes the call of e this process's. The caller has claimed the task.
func (r *Runner) Hold(e ledger.Entry, c *task.Call) *Held {
	h := r.newHeld(e, c)
	r.ledger.Quota.Count(e.ID, e.Caller, e.Weight(), h.holds(e.Task), h.Expires.Add(ledger.Spare))
	r.Calls.hold(h)
	return h
}

// newHeld returns the call of e, which is nobody's yet.
func (r *Runner) newHeld(e ledger.Entry, c *task.Call) *Held {
	h := &Held{
		r: r, l: r.ledger, caller: e.Caller, whose: e.Principal, pool: e.Pool, made: e.Created, size: c.Size(), call: task.Pack(c), token: e.Call,
		ID: e.ID, Expires: r.ledger.Expires(e.Task), entry: e, sure: time.Now(),
	}
	h.round = round{Held: h, due: e.Due(), stream: stream{round: &h.round}}
	h.stored = h.l.StoresCall(e.Task) || e.Answered // it was stored as it paused
	h.slot.h, h.notes.h, h.renewal.among = h, h, &r.wanting
	h.room.Open(r.Unsaved, h.caller, h.Expires)
	h.ctx, h.end = context.WithCancelCause(context.Background())
	return h
}

// holds is how many bytes of a call are in memory whose record is this, with what is kept beside that: the round bears it.
func (h *Held) holds(t *task.Task) int64 { return h.size + t.Weight() - t.Size }

// recount counts what the call keeps and holds after it was asked something, or is not any more.
func (h *Held) recount(t *task.Task) { h.l.Quota.Recount(h.ID, t.Weight(), h.holds(t)) }

// Task returns the record as this process last saw it.
func (h *Held) Task() task.Task { return *h.record() }

// givenUp says why the call was given up, nil if it was not.
func (h *Held) givenUp() error { return context.Cause(h.ctx) }

// IsFenced reports whether the task was seen to be another berth's, or ended by one.
func (h *Held) IsFenced() bool { return errors.Is(h.givenUp(), errFenced) }

// Start begins the call, in a goroutine of its own that no client's departure ends. client
// is nil where the client has the task's handle already.
func (h *Held) Start(client WaitingClient) {
	if h.begun.Swap(true) {
		return
	}
	h.client = client
	if client == nil {
		h.unattended.Store(true)
	}
	if h.token == "" {
		h.token = newToken()
	}
	go h.run()
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
	if t := h.record(); !t.Handed && t.Waiting() {
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
	defer h.unattended.Store(true)
	t := h.record()
	if t.Withheld.IsZero() && (t.Handed || !t.Waiting()) {
		return
	}
	ctx, cancel := ledger.Bounded(h.ctx)
	defer cancel()
	_, _ = h.step(ctx, h.l.Op(task.Hand)) // if it is not noted, a call that was not sent fails with its holder
}

// FreeKey gives back the idempotency key of a call whose client is about to get something
// else in place of the task. Where the store does not take that, it is freed with the task.
func (h *Held) FreeKey(ctx context.Context) {
	t := h.record()
	if err := h.l.Once.Free(ctx, t); err != nil {
		h.r.Log.Debug("an idempotency key is freed later", "task", t.ID, "error", err)
	}
}

// run takes the call through its rounds, and lets go of it.
func (h *Held) run() {
	stretch(0)
	h.round.goOn(0)
}
