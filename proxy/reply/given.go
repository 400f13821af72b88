package reply

import "time"

// Given is what a client was given of an answer.
type Given struct {
	Status  int       // 0: not even the header
	Begun   time.Time // when that was written
	Written int64     // bytes of the body
}

// Given is what the client was given. lost says that it had left by the time when the rest was written.
func (w *Writer) Given() (given Given, lost bool) {
	if w.lost != nil {
		return *w.lost, true
	}
	return Given{w.Status, w.Begun, w.Written}, false
}

// noteDeparture looks whether what is about to be written reaches nobody. It is written all the same: who has closed the sending side alone
// may still read.
func (w *Writer) noteDeparture() {
	if w.Reads != nil && w.Reads.HasLeft() {
		w.lose()
	}
}

// lose notes that the client gets no more than it has been given, if the answer is read on.
func (w *Writer) lose() {
	if w.Reads != nil && w.lost == nil {
		w.lost = &Given{w.Status, w.Begun, w.Written}
	}
}

// HasAll notes that the client has what it asked for: whether it stays for the rest does not matter.
func (w *Writer) HasAll() { w.Reads = nil }
