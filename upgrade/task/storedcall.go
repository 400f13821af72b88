package task

import (
	"strconv"

	"berth/internal/jsonobject"
)

// StoredCall stands before the body of a call in the store, on a line of its own.
type StoredCall struct {
	Own      Pairs     `json:"own,omitempty"`
	Envelope *Envelope `json:"envelope,omitempty"` // if it is bare
	Sealed   string    `json:"sealed,omitempty"`   // if it is not, and there is a key
	Session  string    `json:"session,omitempty"`  // sealed; "" if there is none
}

// Encode returns the stored form of a call with this body.
func (s *StoredCall) Encode(body []byte) []byte {
	w := writer(append(make([]byte, 0, s.room()+len(body)), '{'))
	if len(s.Own) > 0 {
		w.pairs("own", s.Own)
	}
	if s.Envelope != nil {
		w.name("envelope")
		s.Envelope.write(&w)
	}
	w.text("sealed", s.Sealed)
	w.text("session", s.Session)
	return append(append(w, '}', '\n'), body...)
}

// room is about how long the line is.
func (s *StoredCall) room() int {
	const names = 128 // and what stands between them
	n := names + s.Own.room() + len(s.Sealed) + len(s.Session)
	if s.Envelope != nil {
		n += s.Envelope.room()
	}
	return n
}

// Encode returns the stored form.
func (e *Envelope) Encode() []byte {
	w := writer(make([]byte, 0, e.room()))
	e.write(&w)
	return w
}

// write writes it as a value.
func (e *Envelope) write(w *writer) {
	*w = append(jsonobject.AppendString(append(*w, `{"Host":`...), e.Host), `,"Query":`...)
	*w = jsonobject.AppendString(*w, e.Query)
	w.pairs("Header", e.Header)
	w.text("Unsent", e.Unsent)
	w.name("Bare")
	*w = append(strconv.AppendBool(*w, e.Bare), '}')
}

func (e *Envelope) room() int {
	const names = 64
	return names + len(e.Unsent) + len(e.Host) + len(e.Query) + e.Header.room()
}

// room is about how long they are, written.
func (p Pairs) room() int {
	const marks = 4
	return p.size() + marks*len(p)
}
