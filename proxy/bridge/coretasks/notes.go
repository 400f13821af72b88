package coretasks

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/proxy/bridge/rounds"
	"berth/proxy/bridge/sessions"
	"berth/proxy/inbound"
)

// taskNotes are what a task has asked, as berths tell each other: a server tells it once, and the
// client's next request may reach another berth. They stand in the store, sealed.
type taskNotes struct {
	in  *Notes
	key string
}

// Notes are what tasks have asked, of all upstreams of a pool.
type Notes struct {
	records   storage.Engine
	keys      func() *seal.Keyring
	questions rounds.Counter
	near      nearNotes
	ends      endShares
}

// NewNotes returns notes that stand in a store, sealed under the keys of the moment.
func NewNotes(records storage.Engine, keys func() *seal.Keyring, questions rounds.Counter) *Notes {
	return &Notes{records: records, keys: keys, questions: questions, near: newNearNotes()}
}

// of are those of a task, which its session and the server's id name.
func (n *Notes) of(s *sessions.Session, core string) taskNotes {
	sum := sha256.Sum256([]byte(inbound.Joined(s.At.Pool().Name(), s.At.Name, s.ID, core)))
	return taskNotes{n, "bridge:asks:" + base64.RawURLEncoding.EncodeToString(sum[:16])}
}

// note is a question, or that there was one.
type note struct {
	rounds.Question
	Request string            `json:"r,omitempty"`
	Settled bool              `json:"s,omitempty"`
	Words   string            `json:"w,omitempty"` // a digest of what it asks; "": it was not told to a tasks/result
	Earlier []json.RawMessage `json:"e,omitempty"` // ids that it had before
	Anew    bool              `json:"a,omitempty"` // the server has asked the same before
}

// maxNotes bounds how many questions of a task are remembered; those settled first go first.
const maxNotes = 4 * inquiry.MaxInputs

// notesTime bounds a look at the notes.
const notesTime = 2 * time.Second

// open returns the questions that wait for an answer.
func (n taskNotes) open(ctx context.Context) ([]note, error) {
	within, cancel := context.WithTimeout(ctx, notesTime)
	defer cancel()
	notes, _, lost, err := n.read(within)
	if err == nil && lost {
		return n.change(ctx, unlimited, func(notes []note) []note { return notes }) // it is put back
	}
	return opened(notes), err
}

func opened(notes []note) (open []note) {
	for _, one := range notes {
		if !one.Settled {
			one.Question.Request = []byte(one.Request)
			open = append(open, one)
		}
	}
	return open
}

// ask notes questions, for as long as their task lives, and returns all that wait. What was noted
// before is no question once more. What the client has not declared is not counted as asked.
func (n taskNotes) ask(ctx context.Context, asked []note, life time.Duration, declares inquiry.Declared) ([]note, error) {
	shown := 0
	open, err := n.change(ctx, life, func(notes []note) []note {
		shown = 0
		before := len(notes)
		for _, q := range asked {
			if isNoted(notes, q) || q.isAnew(notes[:before], asked) {
				continue
			}
			notes = append(notes, q)
			if declares.Lacks(q.Question.Request) == nil {
				shown++
			}
		}
		return notes
	})
	if err == nil {
		n.in.questions.Add(rounds.WasAsked, shown)
	}
	return open, err
}

// settle notes that questions do not wait any more.
func (n taskNotes) settle(ctx context.Context, answered []note) error {
	_, err := n.change(ctx, unlimited, func(notes []note) []note {
		for i := range notes {
			if slices.ContainsFunc(answered, func(q note) bool { return q.Key == notes[i].Key }) {
				notes[i].Settled, notes[i].Request = true, ""
			}
		}
		return notes
	})
	return err
}

// change changes the notes by compare-and-swap, and returns the questions that wait then. What the store does not take stays with this
// berth, until it does.
func (n taskNotes) change(ctx context.Context, life time.Duration, change func([]note) []note) ([]note, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notesTime)
	defer cancel()
	for {
		notes, version, _, err := n.read(ctx)
		if err != nil {
			return nil, err
		}
		notes = change(notes)
		for len(notes) > maxNotes {
			notes = slices.Delete(notes, 0, 1)
		}
		near := n.in.near.keep(n.key, notes)
		err = n.write(ctx, notes, version, life)
		switch {
		case errors.Is(err, storage.ErrConflict):
		case err != nil && near:
			return opened(notes), nil
		default:
			return opened(notes), err
		}
	}
}

// notesPurpose is what notes are sealed for.
const notesPurpose = "questions of a bridged task"

// read returns the notes, of which none are there that nobody can read any more, and whether the store has lost some.
func (n taskNotes) read(ctx context.Context) (notes []note, version uint64, lost bool, err error) {
	record, err := n.in.records.Get(ctx, n.key)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return nil, 0, false, err
	}
	if err == nil {
		text, err := n.in.keys().Open(ctx, notesPurpose, []string{n.key}, string(record.Value))
		if err != nil && !errors.Is(err, seal.ErrInvalid) {
			return nil, 0, false, err // else they would be written over
		}
		if err == nil {
			_ = json.Unmarshal(text, &notes) // it was marshalled
		}
	}
	notes, lost = n.in.near.add(n.key, notes)
	return notes, record.Version, lost, nil
}

func (n taskNotes) write(ctx context.Context, notes []note, version uint64, life time.Duration) error {
	text, err := json.Marshal(notes)
	if err != nil {
		return err
	}
	sealed, err := n.in.keys().Seal(ctx, notesPurpose, []string{n.key}, text, life)
	if err != nil {
		return err
	}
	if version > 0 {
		_, err = n.in.records.Swap(ctx, n.key, version, []byte(sealed), life)
		return err
	}
	_, created, err := n.in.records.PutIfAbsent(ctx, n.key, []byte(sealed), life)
	if err == nil && !created {
		err = storage.ErrConflict
	}
	return err
}

// Asks notes what a task, which core names at its server, asks on its session's own stream ("Input Required Status").
func (n *Notes) Asks(ctx context.Context, out *exchange.Request, s *sessions.Session, core string, id, message []byte) {
	q := rounds.Question{Key: rounds.KeyOf(id), ID: bytes.Clone(id), Request: message}
	if _, err := n.of(s, core).ask(ctx, []note{{Question: q, Request: string(message)}}, unlimited, s.Declares); err != nil {
		_ = s.Tell(ctx, out, mcp.ErrorResponse(q.ID, rounds.ErrNobodyAsked.Object()))
	}
}

// Withdraws notes that a task wants no answer any more to what it has asked under that id.
func (n *Notes) Withdraws(ctx context.Context, s *sessions.Session, core string, id []byte) {
	notes := n.of(s, core)
	open, err := notes.open(ctx)
	gone := slices.DeleteFunc(open, func(q note) bool { return !mcp.SameID(q.ID, id) })
	if err != nil || len(gone) == 0 {
		return
	}
	n.questions.Add(rounds.WasWithdrawn, len(gone))
	_ = notes.settle(ctx, gone)
}
