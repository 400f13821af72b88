package sticky

import (
	"encoding/json"
	"fmt"
	"time"
)

// Binding says which upstream owns a task or a session.
type Binding struct {
	Upstream  string    `json:"up"`                  // the owner's name
	Principal string    `json:"principal,omitempty"` // whose it is
	Session   string    `json:"session,omitempty"`   // digest of the session that a task was made in
	Dialect   string    `json:"dialect,omitempty"`   // "core", "extension" or "draft", of a task
	Version   string    `json:"version,omitempty"`   // negotiated protocol version, of a session
	Status    string    `json:"status,omitempty"`    // a task's status when berth last saw it
	Expires   time.Time `json:"expires"`             // when the binding may be forgotten
}

// Provisional reports whether a task was bound before its upstream heard of it, and has
// not been told of since: its id was made by the client. Such a binding may still move
// (see Move), so it is looked up in the store each time.
func (b Binding) Provisional() bool { return b.Dialect == draft && b.Status == "" }

// draft is the dialect whose ids clients make, as package mcp spells it.
const draft = "draft"

// format is the version of the stored form.
const format = 1

type stored struct {
	Format int `json:"v"`
	Binding
}

func (b Binding) encode() []byte {
	// Strings and a time within the years of the common era always marshal.
	data, _ := json.Marshal(stored{format, b})
	return data
}

func decode(data []byte) (Binding, error) {
	var s stored
	if err := json.Unmarshal(data, &s); err != nil {
		return Binding{}, fmt.Errorf("sticky: stored binding: %w", err)
	}
	if s.Format != format || s.Upstream == "" {
		return Binding{}, fmt.Errorf("sticky: stored binding of format %d", s.Format)
	}
	return s.Binding, nil
}
