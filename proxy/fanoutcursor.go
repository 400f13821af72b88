package proxy

import (
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
func (l *listing) resume(cursor string) error {
	text, err := l.x.p.options.Keys.Open(l.x.ctx, cursorPurpose, l.about, cursor)
	if errors.Is(err, seal.ErrInvalid) {
		return mcp.ErrInvalidCursor
	}
	if err != nil {
		return err
	}
	l.places = nil
	if err := json.Unmarshal(text, &l.places); err != nil {
		return mcp.ErrInvalidCursor
	}
	for i := range l.places {
		if l.places[i].isOwn() && !l.x.listsOwn() {
			return mcp.ErrInvalidCursor // the rules are another berth's, or were
		}
		// It is there: the cursor is sealed about the pool's upstreams.
		l.places[i].upstream = l.x.Pool().Find(l.places[i].Upstream)
	}
	return nil
}

// cursor returns where the list goes on, for this caller only; "" at its end. An
// upstream's own cursor may tell of others' tasks: in some SDKs it is a task's id.
func (l *listing) cursor() (string, error) {
	if len(l.places) == 0 {
		return "", nil
	}
	text, err := json.Marshal(l.places)
	if err != nil {
		return "", err
	}
	return l.x.p.options.Keys.Seal(l.x.ctx, cursorPurpose, l.about, text, cursorLife)
}
