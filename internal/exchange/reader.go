package exchange

import (
	"io"
	"strings"

	"berth/internal/mcp"
	"berth/internal/sse"
	"berth/internal/wire"
)

// Shape is how an answer's body is to be read. The zero value is Opaque.
type Shape uint8

const (
	Opaque      Shape = iota // neither JSON nor events, or encoded: passed on unread
	JSON                     // one JSON-RPC message, or a batch
	EventStream              // text/event-stream
)

// ShapeOf returns how the body of response is to be read.
func ShapeOf(response *wire.Response) Shape {
	if h := response.Header; !h.Lacks("Content-Encoding") && h.Get("Content-Encoding") != "identity" {
		return Opaque
	}
	switch media := response.Header.Get("Content-Type"); media { // nearly all are written so
	case "application/json":
		return JSON
	case "text/event-stream":
		return EventStream
	default:
		return shapeOf(media)
	}
}

func shapeOf(contentType string) Shape {
	// Parameters are not looked at: a faulty one does not make it another type.
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	switch {
	case media == "text/event-stream":
		return EventStream
	case media == "application/json", strings.HasSuffix(media, "+json"):
		return JSON
	}
	return Opaque
}

// Piece is a part of an answer's body.
type Piece struct {
	Raw     []byte // the bytes to pass on; valid until the next call of Next
	Message []byte // the JSON-RPC message in it, or its beginning; nil if there is none to look at
	Cut     bool   // Message is only the beginning
	Between bool   // after Raw an event stream stands between two events
	Broken  bool   // the event stream ended within this event
	event   sse.Event
}

// EventID is the id of the event that the piece is, from which a client could resume the
// stream; "" if it has none.
func (p Piece) EventID() string { return p.event.ID() }

// Reader hands out an answer's body piece by piece. It is for one goroutine.
type Reader struct {
	Length int64 // of the body, as announced; 0 or less: unknown. It is set before the first Next, if at all

	shape  Shape
	body   io.Reader
	most   int // bytes of a message that are held
	events *sse.Reader
	buffer []byte
	first  []byte // where a message is held
	begun  bool
	rest   error // what ended the body while the first piece was read
}

// copyBuffer is the size of the pieces of what is not looked into.
const copyBuffer = 32 << 10

// NewReader returns a reader of body, an answer of the given shape.
func NewReader(shape Shape, body io.Reader) *Reader { return NewLongReader(shape, body, mcp.MaxPeek) }

// NewLongReader is NewReader for messages of which up to most bytes are held, in place of
// mcp.MaxPeek.
func NewLongReader(shape Shape, body io.Reader, most int) *Reader {
	r := new(Reader)
	r.Begin(shape, body, most)
	return r
}

// Begin has r read another body, as NewLongReader does, in the memory that it has.
func (r *Reader) Begin(shape Shape, body io.Reader, most int) {
	*r = Reader{shape: shape, body: body, most: most, first: r.first}
	if shape == EventStream {
		r.events = sse.NewReader(body, most)
	}
}

// End lets go of the body and of all pieces. Memory for more than most messages need is not kept.
func (r *Reader) End() {
	const most = 16 << 10
	first := r.first
	if cap(first) > most {
		first = nil
	}
	*r = Reader{first: first[:0]}
}

// Next returns the next piece, and io.EOF after the last one. Any other error is
// the body's. What arrived before it was handed out, except of a JSON message that
// is held whole: of that there is all or nothing.
func (r *Reader) Next() (Piece, error) {
	switch {
	case r.shape == EventStream:
		return r.nextEvent()
	case r.rest != nil:
		return Piece{}, r.rest
	case r.shape == JSON && !r.begun:
		r.begun = true
		return r.message()
	}
	return r.chunk()
}

// Wait returns when Next has something to tell, or has begun to: of a body that can be waited for. What was handed out is not
// valid any more, and its memory is given back.
func (r *Reader) Wait() {
	if body, ok := r.body.(wire.Waiter); ok && r.events != nil && r.events.Rest() {
		body.Wait()
	}
}

// Await has ready called when Wait would return, as wire.Waiter has it. It reports false where that cannot be.
func (r *Reader) Await(ready func()) bool {
	body, ok := r.body.(wire.Waiter)
	return ok && r.events != nil && r.events.Rest() && body.Await(ready)
}

// Ready reports whether Next hands out an event, or the end of their stream, without reading on.
func (r *Reader) Ready() bool { return r.events != nil && r.events.Ready() }

func (r *Reader) nextEvent() (Piece, error) {
	event, err := r.events.Next()
	if err != nil {
		return Piece{}, err
	}
	return Piece{
		Raw: event.Raw, Message: event.Data, Cut: event.Cut, Between: event.Ends,
		Broken: !event.Ends && !event.Cut && !event.Tail, event: event,
	}, nil
}

// firstRoom is what a message is given to begin with, in bytes. One of known length has room for one byte
// more, so that its end is seen without more memory.
func (r *Reader) firstRoom() int {
	const usual = 4 << 10
	if r.Length > 0 {
		return int(min(r.Length+1, usual))
	}
	return usual
}

// message reads a JSON message whole, or as much of it as is held.
func (r *Reader) message() (Piece, error) {
	buffer := r.first[:0]
	if room := r.firstRoom(); cap(buffer) < room {
		buffer = make([]byte, 0, room)
	}
	for len(buffer) < r.most {
		if len(buffer) == cap(buffer) {
			buffer = append(make([]byte, 0, min(4*cap(buffer), r.most)), buffer...)
		}
		n, err := r.body.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if err != nil {
			r.rest = err
			break
		}
	}
	r.first = buffer
	if r.rest != nil && (r.rest != io.EOF || len(buffer) == 0) {
		return Piece{}, r.rest
	}
	return Piece{Raw: buffer, Message: mcp.Unmarked(buffer), Cut: r.rest == nil}, nil
}

func (r *Reader) chunk() (Piece, error) {
	if r.buffer == nil {
		r.buffer = make([]byte, copyBuffer)
	}
	for {
		n, err := r.body.Read(r.buffer)
		if n > 0 {
			r.rest = err
			return Piece{Raw: r.buffer[:n]}, nil
		}
		if err != nil {
			return Piece{}, err
		}
	}
}
