package tasks

import (
	"bytes"
	"io"
	"strconv"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/outbound"
)

// closer closes body, as it is now.
func closer(body io.Closer) func() { return func() { body.Close() } }

// ofLength returns response as one whose body has another length.
func ofLength(response *wire.Response, length int) *wire.Response {
	other := *response
	other.Header, other.ContentLength = response.Header.Clone(), int64(length)
	other.Header.Set("Content-Length", strconv.Itoa(length))
	return &other
}

// wholeAnswer is how much of an answer is waited for before the client gets it, in bytes.
// Shorter ones are not begun before they are whole: one that stalls half-way could not
// become a task any more. Longer ones pass as they come.
const wholeAnswer = 64 << 10

// begunAnswer is a body whose beginning was read.
type begunAnswer struct {
	io.Closer
	head  []byte
	whole bool      // head is all of it
	told  int       // how much of head was read on
	rest  io.Reader // what comes after it; nil: nothing

	first io.LimitedReader // what head is read of
}

// Read implements io.Reader, from the beginning.
func (b *begunAnswer) Read(p []byte) (int, error) {
	if b.told < len(b.head) {
		n := copy(p, b.head[b.told:])
		b.told += n
		return n, nil
	}
	if b.rest == nil {
		return 0, io.EOF
	}
	return b.rest.Read(p)
}

// readAnswer waits for what a response answers, or for so much of it as is waited for.
func readAnswer(response *wire.Response) (*begunAnswer, error) {
	body := response.Body
	b := &begunAnswer{Closer: body, rest: body, first: io.LimitedReader{R: body, N: wholeAnswer}}
	var err error
	b.head, err = outbound.ReadAll(&b.first, response.ContentLength)
	b.whole = err == nil && len(b.head) < wholeAnswer
	return b, err
}

// under returns the answer as one to the request with this id: the call may have another at
// the upstream. What does not name the call stays as it came.
func (o offer) under(id []byte) *wire.Response {
	body, ok := o.response.Body.(*begunAnswer)
	if !ok || bytes.Equal(o.id, id) || len(body.head) == wholeAnswer {
		return o.response
	}
	if a, err := mcp.PeekAnswer(body.head, false); err != nil || !a.Answers(o.id) {
		return o.response
	}
	text := mcp.WithID(body.head, id)
	renamed := ofLength(o.response, len(text))
	renamed.Body = &begunAnswer{Closer: body.Closer, head: text, whole: true}
	return renamed
}

// isWithheld reports whether an answer is not passed on to who made the request with this
// id: a task that nobody asked for is followed, and another request's answer dropped. Of a
// longer one the id may still come.
func (b *begunAnswer) isWithheld(id []byte) bool {
	a, err := mcp.PeekAnswer(b.head, true)
	if err != nil || a.CreatesTask() {
		return err == nil
	}
	named := a.ID != nil || len(b.head) < wholeAnswer
	return named && a.Method == "" && !a.Answers(id) && !a.IsNobodys()
}
