package tasklist

import (
	"context"
	"encoding/json"
	"errors"

	"berth/internal/mcp"
	"berth/internal/seal"
	"berth/routing"
)

// cursorPurpose is what cursors are sealed for.
const cursorPurpose = mcp.MethodListTasks

// place is where a list goes on at one upstream, or among berth's own tasks.
type place struct {
	Upstream string `json:"u"`           // "": berth's own
	Cursor   string `json:"c,omitempty"` // the upstream's own; "": at its beginning

	upstream *routing.Upstream
	later    bool // its next page did not fit, and is asked for again
}

func (p place) isOwn() bool { return p.Upstream == "" }

// resume goes to where cursor says.
func (m *making) resume(ctx context.Context, cursor string, upstreams []*routing.Upstream) error {
	text, err := m.keys.Open(ctx, cursorPurpose, m.about, cursor)
	if errors.Is(err, seal.ErrInvalid) {
		return mcp.ErrInvalidCursor
	}
	if err != nil {
		return err
	}
	m.places = nil
	if err := json.Unmarshal(text, &m.places); err != nil {
		return mcp.ErrInvalidCursor
	}
	for i := range m.places {
		p := &m.places[i]
		if p.isOwn() && !m.own {
			return mcp.ErrInvalidCursor // the rules are another berth's, or were
		}
		for _, u := range upstreams { // it is there: the cursor is sealed about them
			if u.Name == p.Upstream {
				p.upstream = u
			}
		}
	}
	return nil
}

// cursor returns where the list goes on, for this caller only; "" at its end. An
// upstream's own cursor may tell of others' tasks: in some SDKs it is a task's id.
func (m *making) cursor(ctx context.Context) (string, error) {
	if len(m.places) == 0 {
		return "", nil
	}
	text, err := json.Marshal(m.places)
	if err != nil {
		return "", err
	}
	return m.keys.Seal(ctx, cursorPurpose, m.about, text, cursorLife)
}
