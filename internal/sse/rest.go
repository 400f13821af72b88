package sse

import "sync"

// eventBuffer is memory of readers that rest.
type eventBuffer [usualBuffer]byte

var eventBuffers = sync.Pool{New: func() any { return new(eventBuffer) }}

// Rest gives memory back, with the event handed out last, until the next call of Next. It reports false, and keeps it, if
// there is something that Next would not wait for, or an event has come in part.
func (er *Reader) Rest() bool {
	er.release()
	if er.from < er.to || er.err != nil {
		return false
	}
	er.giveBack()
	er.buf, er.rests = nil, true
	return true
}

func (er *Reader) giveBack() {
	if er.lent != nil {
		eventBuffers.Put(er.lent)
		er.lent = nil
	}
}

func (er *Reader) borrow() {
	er.lent = eventBuffers.Get().(*eventBuffer)
	er.buf = er.lent[:]
}
