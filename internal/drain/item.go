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

func itemOf(l sticky.Left, ids *IDs) Item {
	b := l.Binding
	i := Item{Kind: string(l.Kind), ID: ids.Show(b.ID), Tool: b.Tool, Status: b.Status, Session: b.Session, Caller: seal.Digest(b.Principal), Expires: l.Expires.UTC().Truncate(time.Second)}
	if b.Made > 0 {
		i.Made = time.UnixMilli(b.Made).UTC()
	}
	if l.Kind == sticky.Session {
		i.ID, i.Session = b.Session, ""
	}
	if i.ID == "" {
		i.ID = l.Name // of what an older berth has bound
	}
	return i
}

// add lists what is left, up to most things.
func (s *Status) add(left []sticky.Left, ids *IDs, most int) {
	for _, one := range left {
		if len(s.Items) < most {
			s.Items = append(s.Items, itemOf(one, ids))
		}
	}
}
