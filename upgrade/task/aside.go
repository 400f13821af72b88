package task

import (
	"encoding/json"
	"slices"
	"strconv"
)

// LongInput is the size from which on an answer of the client's, and a requestState, is kept beside the record, in bytes: each poll
// reads the record, and each step writes it anew.
const LongInput = 8 << 10

// MaxAnswerBytes bounds the answers to what a task asks between two rounds, unless there is only one: they go upstream together.
const MaxAnswerBytes = 16 << 20

// Aside stands in a record for a value that is kept beside it: as an array, which neither an answer nor a requestState is.
type Aside struct {
	Name string // of the value, among those of the task
	Size int64
}

func (a Aside) place() json.RawMessage {
	text := strconv.AppendQuote(append(make([]byte, 0, 32), '['), a.Name)
	return append(strconv.AppendInt(append(text, ','), a.Size, 10), ']')
}

// isAside reports whether a value is kept elsewhere.
func isAside(value []byte) bool { return len(value) > 0 && value[0] == '[' }

// asideOf reads what place has written.
func asideOf(value []byte) (a Aside) {
	_ = json.Unmarshal(value, &[]any{&a.Name, &a.Size}) // what stands in a record was parsed before
	return a
}

// sizeOf is how many bytes a value has, wherever it is kept.
func sizeOf(value []byte) int64 {
	if isAside(value) {
		return asideOf(value).Size
	}
	return int64(len(value))
}

// Asides are the values that are kept beside the record.
func (t *Task) Asides() (all []Aside) {
	if isAside(t.RequestState) {
		all = append(all, asideOf(t.RequestState))
	}
	for i := range t.Asks {
		if isAside(t.Asks[i].Answer) {
			all = append(all, asideOf(t.Asks[i].Answer))
		}
	}
	return all
}

// SetAside has what is long of the answers, and the requestState, be kept beside the record. The task is the caller's alone; its asks
// may be others', too. It fails as keep does.
func (t *Task) SetAside(keep func(name string, value []byte) error) error {
	if t.isLong(t.RequestState) {
		place, err := t.putAside("", t.RequestState, keep)
		if err != nil {
			return err
		}
		t.RequestState = place
	}
	own := false
	for i := range t.Asks {
		if !t.isLong(t.Asks[i].Answer) {
			continue
		}
		place, err := t.putAside(t.Asks[i].Key, t.Asks[i].Answer, keep)
		if err != nil {
			return err
		}
		if !own {
			t.Asks, own = slices.Clone(t.Asks), true
		}
		t.Asks[i].Answer = place
	}
	return nil
}

func (t *Task) isLong(value []byte) bool { return len(value) > LongInput && !isAside(value) }

// putAside has a value be kept. A name is one value's: a key is for one question, and a requestState for one round.
func (t *Task) putAside(key string, value []byte, keep func(name string, value []byte) error) (json.RawMessage, error) {
	a := Aside{Digest(strconv.Itoa(t.Round), key, string(value)), int64(len(value))}
	return a.place(), keep(a.Name, value)
}

// Whole returns the task with all that is kept beside its record; the task itself, if nothing is. It fails as read does.
func (t *Task) Whole(read func(name string) ([]byte, error)) (*Task, error) {
	if len(t.Asides()) == 0 {
		return t, nil
	}
	whole, err := *t, error(nil)
	fetch := func(value json.RawMessage) json.RawMessage {
		if err == nil && isAside(value) {
			value, err = read(asideOf(value).Name)
		}
		return value
	}
	whole.RequestState, whole.Asks = fetch(t.RequestState), slices.Clone(t.Asks)
	for i := range whole.Asks {
		whole.Asks[i].Answer = fetch(whole.Asks[i].Answer)
	}
	return &whole, err
}

// StateWhole returns the requestState, wherever it is kept. It fails as read does.
func (t *Task) StateWhole(read func(name string) ([]byte, error)) (json.RawMessage, error) {
	if !isAside(t.RequestState) {
		return t.RequestState, nil
	}
	return read(asideOf(t.RequestState).Name)
}

// AnsweredTooLong reports whether the answers to what the task asks are more than may go upstream together.
func (t *Task) AnsweredTooLong() bool {
	n, size := 0, int64(0)
	for i := range t.Asks {
		if answer := t.Asks[i].Answer; answer != nil {
			n, size = n+1, size+sizeOf(answer)
		}
	}
	return n > 1 && size > MaxAnswerBytes
}
