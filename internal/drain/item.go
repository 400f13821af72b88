package drain

import (
	"time"

	"berth/internal/seal"
	"berth/sticky"
)

// Item is a task or session that an upstream owns, without what only its client is to know.
type Item struct {
	Kind    string    `json:"kind"`              // "task" or "session"
	ID      string    `json:"id"`                // of a task, as its server logged it; of a session, a digest, as access records have it
	Tool    string    `json:"tool,omitempty"`    // that made the task
	Status  string    `json:"status,omitempty"`  // of the task, when berth last saw it
	Session string    `json:"session,omitempty"` // digest of the one that the task was made in
	Caller  string    `json:"caller,omitempty"`  // digest of the principal; "": nobody
	Made    time.Time `json:"made,omitzero"`     // when it was bound
	Expires time.Time `json:"expires"`           // when it may be forgotten
}

// ItemOf is what a binding tells of its task or session. ids show the ids of tasks; a session's needs none.
func ItemOf(l sticky.Left, ids *IDs) Item {
	b := l.Binding
	i := Item{Kind: string(l.Kind), Caller: seal.Digest(b.Principal), Expires: l.Expires.UTC().Truncate(time.Second)}
	if l.Kind == sticky.Session {
		i.ID = b.Session
	} else {
		i.ID, i.Tool, i.Status, i.Session = ids.Show(b.ID), b.Tool, b.Status, b.Session
	}
	if i.ID == "" {
		i.ID = l.Name // of what an older berth has bound
	}
	if b.Made > 0 {
		i.Made = time.UnixMilli(b.Made).UTC()
	}
	return i
}
