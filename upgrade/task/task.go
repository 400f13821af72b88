package task

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"berth/internal/mcp/inquiry"
)

// State is where an upgraded task stands. Clients see the first three as "working", or a
// legacy call that asks while it runs as "input_required".
type State string

const (
	Queued        State = "queued"         // durable; waits for a place at an upstream
	Accepted      State = "accepted"       // durable; nothing of the round that is due was sent
	Dispatched    State = "dispatched"     // a round may have reached an upstream
	InputRequired State = "input_required" // waits for its client; nothing is in flight, nobody holds it
	Completed     State = "completed"      // the call returned a result
	Failed        State = "failed"         // the call returned an error, or nobody will know what it returned
	Cancelled     State = "cancelled"      // its client gave it up
)

// Terminal reports whether the state is an end: it never changes again.
func (s State) Terminal() bool { return s == Completed || s == Failed || s == Cancelled }

// Task is the record of an upgraded task: all that berths need to know of it, but for
// the call and its outcome, which are blobs of their own. It is a value; Transition
// makes the next one.
type Task struct {
	ID        string `json:"id"`
	Pool      string `json:"pool"`                // the pool that it was made in, and is asked for in
	Tool      string `json:"tool"`                // what is called
	Version   string `json:"version"`             // protocol version of the client that made it
	Principal string `json:"principal,omitempty"` // whose it is; "" is nobody's

	Creator // counts where Principal is ""

	// Caller is a digest of whom the task counts for. "": nobody knows, as of one that a
	// berth before 0.5.0 made.
	Caller string `json:"caller,omitempty"`
	// Size is how many bytes are kept beside the record: of the call, and once the task has
	// ended of the outcome.
	Size int64 `json:"size,omitzero"`

	// Once names the call by its idempotency key, so that the key stands in the store for
	// as long as the task does.
	Once Once `json:"once,omitzero"`

	// Declares is what its client lets servers ask it for, "" if nobody knows.
	Declares inquiry.Declared `json:"declares,omitempty"`

	// Origin is the span of the request that made it, as its maker names it; "" unless it was recorded.
	Origin string `json:"origin,omitempty"`

	State   State     `json:"state"`
	Message string    `json:"message,omitempty"` // for people; the statusMessage
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	Terms   Terms     `json:"terms"`

	// Call names the call upstream where that is of the legacy era: its JSON-RPC id begins
	// with it, and it is its progressToken. "": a round of the modern era, which only its
	// holder needs to tell apart.
	Call string `json:"call,omitempty"`
	// Session is the session that the call lives in, as SessionKey names it; "": none. Such
	// a call goes to Upstream alone.
	Session string `json:"session,omitempty"`
	// Behind is the upstream's own session behind Session, as BehindKey names it.
	Behind string `json:"behind,omitempty"`
	// ProgressToken is the client's own, raw; nil: none, or it is of no use any more.
	ProgressToken json.RawMessage `json:"progress_token,omitempty"`
	// Event is the id of the last event of the call's stream that has had its effect: from
	// there the stream can be resumed. "": none had one.
	Event string `json:"event,omitempty"`
	// Progress is params of the last notifications/progress of a legacy call, raw.
	Progress json.RawMessage `json:"progress,omitempty"`
	// Said are the last notifications of other kinds on a legacy call's stream.
	Said []Said `json:"said,omitempty"`

	Holder   string `json:"holder,omitempty"`   // the process that keeps the call; "" if nothing is in flight
	Round    int    `json:"round,omitempty"`    // how often it was dispatched
	Upstream string `json:"upstream,omitempty"` // that the last round went to, and the next one had best go to
	Follows  string `json:"follows,omitempty"`  // the task that Upstream made of the call, unasked; "" if none

	// Flags stand together: a record is copied with each step, and so fits in 768 bytes.
	Left       bool `json:"left,omitzero"`         // Holder goes, and has let go of the call: whoever can is to adopt it
	Handed     bool `json:"handed,omitempty"`      // its client has the handle, as far as berth can know
	Answered   bool `json:"answered,omitzero"`     // the next round answers Asks
	ToolFailed bool `json:"tool_failed,omitempty"` // the result says isError: core tasks have failed then

	// Withheld is until when, at most, its client may yet get something else in place of the
	// task; zero: it has the handle, or nobody else can come upon the task before.
	Withheld time.Time `json:"withheld,omitzero"`

	Asks         []Ask           `json:"asks,omitempty"`  // what the client is asked, or has answered; of a legacy call, what is open
	Asked        []string        `json:"asked,omitempty"` // keys that were shown in rounds before
	RequestState json.RawMessage `json:"request_state,omitempty"`

	Outcome string   `json:"outcome,omitempty"` // names the blob of the result or error; "" if there is none
	Ops     []string `json:"ops,omitempty"`     // the last ops that made this record
	Steps   Steps    `json:"steps,omitempty"`   // what has become of it, for operators; see Timeline
	Again   Again    `json:"again,omitzero"`    // of a task that has failed: the one that its call was made again as
}

// Again names the task that the call of one was made again as.
type Again struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
}

// Terms are what the rule said when the task was made.
type Terms struct {
	TTL          time.Duration `json:"ttl"` // since Created
	PollInterval time.Duration `json:"poll_interval"`
	Timeout      time.Duration `json:"timeout"`    // of one held call
	MaxResult    int64         `json:"max_result"` // bytes
	Rerun        bool          `json:"rerun,omitzero"`
	Unlisted     bool          `json:"unlisted,omitzero"`  // it is not counted among its principal's live tasks: the rule bounds none
	Slots        int           `json:"slots,omitzero"`     // calls at once per upstream; 0: any number
	Queue        string        `json:"queue,omitzero"`     // names those that share the slots
	Webhooks     []Webhook     `json:"webhooks,omitempty"` // who is told how the task fares
}

// Waiting reports whether the next round has not begun.
func (t *Task) Waiting() bool { return t.State == Queued || t.State == Accepted }

// MayGoOn reports whether another holder may take the task over: its round was not sent,
// may be sent again, is about an upstream's task, or can be listened to further.
func (t *Task) MayGoOn() bool {
	return t.Waiting() || t.State == Dispatched && (t.Terms.Rerun || t.Follows != "" || t.Resumable())
}

// MayBeHandedOver reports whether another holder can go on with the task while this one lives,
// and nothing that runs is lost by it: what may run twice is better left to its end.
func (t *Task) MayBeHandedOver() bool {
	return t.Waiting() || t.State == Dispatched && t.Follows != "" || t.Resumable()
}

// Resumable reports whether the stream of the round that is in flight can be resumed by
// whoever has the session.
func (t *Task) Resumable() bool {
	return t.State == Dispatched && t.Call != "" && t.Session != "" && t.Event != ""
}

// Expires returns when the task may be forgotten, by the store's clock; see Reader.Expires.
func (t *Task) Expires() time.Time { return t.Created.Add(t.Terms.TTL) }

// Brief returns the task without what may be large in its record: what clients are asked.
func (t *Task) Brief() Task {
	brief := *t
	brief.RequestState, brief.Asks = nil, slices.Clone(t.Asks)
	for i := range brief.Asks {
		brief.Asks[i].Request = nil
	}
	return brief
}

// Weight is how many bytes a task keeps that its client, or its tool, decides about: Size,
// what of it is in the record, and what is kept beside that until the task goes on.
func (t *Task) Weight() int64 {
	n := t.Size + t.Recorded()
	for _, aside := range t.Asides() {
		n += aside.Size
	}
	return n
}

// Recorded is how many of these bytes are in the record.
func (t *Task) Recorded() int64 {
	n := len(t.Tool) + len(t.Message) + len(t.ProgressToken) + len(t.Progress) + len(t.RequestState)
	for _, ask := range t.Asks {
		n += len(ask.Key) + len(ask.Upstream) + len(ask.Request) + len(ask.Answer)
	}
	for _, key := range t.Asked {
		n += len(key)
	}
	for _, said := range t.Said {
		n += len(said.Message)
	}
	return int64(n)
}

// Did reports whether op made this record or one shortly before it.
func (t *Task) Did(op string) bool { return slices.Contains(t.Ops, op) }

// Digest names parts of any length and content.
func Digest(parts ...string) string {
	var room [256]byte
	text := room[:0]
	for _, part := range parts {
		text = append(append(strconv.AppendInt(text, int64(len(part)), 10), ':'), part...)
	}
	sum := sha256.Sum256(text)
	var name [16]byte
	return string(base64.RawURLEncoding.AppendEncode(name[:0], sum[:12]))
}

// SizeOf is how many bytes inputs keep.
func SizeOf(inputs []inquiry.Input) (n int64) {
	for _, in := range inputs {
		n += int64(len(in.Key) + len(in.Value))
	}
	return n
}

// Status is the state as 2025-11-25 spells it. A legacy call that asks while it runs waits
// for input; see ExtensionStatus.
func (t *Task) Status() string {
	switch {
	case t.State == Dispatched && len(t.OpenAsks()) > 0:
		return string(InputRequired)
	case t.Waiting(), t.State == Dispatched:
		return working
	}
	return string(t.State)
}

// working is the status of a task that has not ended and asks for nothing.
const working = "working"

// ExtensionStatus is the state as the Tasks extension spells it. What a legacy call asks
// while it runs is answered in its session alone, and not by tasks/update: to clients of the
// extension it works.
func (t *Task) ExtensionStatus() string {
	if t.State == Dispatched {
		return working
	}
	return t.Status()
}

// QueueName is where a task queues: those whose calls can go to one upstream alone, in front of
// that.
func (t *Task) QueueName() string {
	if t.Session == "" {
		return t.Terms.Queue
	}
	return LineAt(t.Terms.Queue, t.Upstream)
}

// LineAt is the line of a queue in front of one upstream.
func LineAt(queue, upstream string) string { return queue + QueueMark + Digest(upstream) }

// QueueMark stands between a queue and one of its lines.
const QueueMark = "@"
