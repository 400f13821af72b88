package task

import (
	"encoding/json"
	"time"

	"berth/internal/mcp/inquiry"
)

// Kind is what an op does.
type Kind string

const (
	Dispatch Kind = "dispatch" // a round is about to be sent to Upstream
	Return   Kind = "return"   // the round did not leave, and is due again
	Hand     Kind = "hand"     // the client has the handle
	Progress Kind = "progress" // the tool says Message
	Pause    Kind = "pause"    // the round ended by asking Asks, or for another round with RequestState alone
	Answer   Kind = "answer"   // the client gives Answers; with the last one Holder takes the task
	Moot     Kind = "moot"     // the upstream waits for none of what was asked any more: Holder takes the task; or for Asks alone
	Note     Kind = "note"     // a legacy call's stream came to Event, and said Message, Progress, Says
	Open     Kind = "open"     // a legacy call asks Request, under Key; at Event
	Settle   Kind = "settle"   // the upstream has the answer to Key
	Withdraw Kind = "withdraw" // the upstream wants no answer to Key any more; at Event
	Redo     Kind = "redo"     // the round is lost, and may be sent again
	Follow   Kind = "follow"   // Upstream made a task of its own, Follows, of the call
	Finish   Kind = "finish"   // the round ended with Outcome, in End
	Cancel   Kind = "cancel"   // the client gives the task up
	Orphan   Kind = "orphan"   // Of is gone: the task fails with Outcome
	Leave    Kind = "leave"    // Holder goes: it has let go of what another one can go on with at once
	Adopt    Kind = "adopt"    // Of is gone, or has left it: Holder takes over what can be gone on with
	Rerun    Kind = "rerun"    // an operator has the call of a task that has failed made again, as the task Again
)

// Op is one step of a task. Its ID makes a repetition harmless.
type Op struct {
	ID   string
	Kind Kind
	At   time.Time // becomes Task.Updated

	Holder string // whose step it is, or who takes the task
	Of     string // Orphan, Adopt: the holder that is gone; Rerun: the Again that came to nothing, "" for none
	Round  int    // Dispatch: the round before; Moot: the one that asked; else the round that is in flight, or due

	Upstream     string
	Follows      string
	Message      string
	Asks         []inquiry.Input // under the upstream's keys
	RequestState json.RawMessage
	Answers      []inquiry.Input // under the client's keys
	End          State           // Finish: Completed or Failed
	Outcome      string
	Size         int64  // of Outcome
	ToolFailed   bool   // Finish
	Reason       string // Finish, Orphan: why it failed, in one word; "": the tool says so
	Again        string // Rerun

	Event    string // Note, Open, Withdraw: the event that this comes from; "" if it has no id
	Progress json.RawMessage
	Says     []json.RawMessage
	Key      string
	Request  json.RawMessage
}
