package reply

import (
	"strconv"

	"berth/internal/mcp"
)

// Respond writes a JSON answer of berth's own, in one piece or several; where an early stream is open,
// as its last event.
func (w *Writer) Respond(status int, body ...[]byte) {
	if err := w.writeAnswer(status, body); err != nil && w.Failed == nil {
		w.Failed = err
	}
}

func (w *Writer) writeAnswer(status int, body mcp.Parts) error {
	if w.Early.IsOpen() {
		return w.Early.end(status, body.Bytes())
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(status)
	for _, part := range body {
		if err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// MayAnswer reports whether an answer can still be given.
func (w *Writer) MayAnswer() bool { return w.Status == 0 || w.Early != nil && w.Early.between }

// Meant is the HTTP status that tells how the request went, also where an early stream was
// opened with 200 before that was known.
func (w *Writer) Meant() int {
	if w.Early != nil && w.Early.status != 0 {
		return w.Early.status
	}
	return w.Status
}

// Empty answers with a status alone.
func (w *Writer) Empty(status int) {
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(status)
}
