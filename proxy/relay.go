package proxy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/outbound"
	"berth/routing"
)

// relay notes that u answered and passes the answer on to the client.
func (x *request) relay(u *routing.Upstream, response *wire.Response) error {
	outbound.To(x.Endpoint).NoteAnswer(u, response)
	return x.relayAnswer(u, response)
}

// relayAnswer passes an answer on to the client, message by message.
func (x *request) relayAnswer(u *routing.Upstream, response *wire.Response) error {
	defer response.Body.Close()
	if x.Opaque && x.IsPreflight() && !answersPreflight(response) {
		x.grant()
		return nil
	}
	if x.Opaque {
		return x.relayBody(u, response, exchange.Opaque)
	}
	x.judgedMade(response.Status)
	if response.Status >= 300 && response.Status < 400 {
		return fault.Redirect
	}
	if x.hasOddSession(response.Header) {
		return fault.OddSession
	}
	x.recordSessionEnd(response)
	x.recordAnswered(response)
	x.newSession = x.sessionGivenBy(response)
	x.announces = x.announcing(response)
	shape := exchange.ShapeOf(response)
	if shape == exchange.EventStream && response.Status/100 == 2 {
		return x.relayEvents(u, response)
	}
	if shape == exchange.Opaque && x.strict(response) && response.Header.Get("Content-Encoding") == "" {
		return fault.BadUpstream
	}
	return x.relayBody(u, response, shape)
}

// strict reports whether an answer must be one that can be understood.
func (x *request) strict(response *wire.Response) bool {
	return response.Status == wire.StatusOK && x.MustBeClear()
}

// relayBody passes on an answer that is no event stream. Its first piece is
// looked at, and what it creates is recorded, before even the status goes out.
func (x *request) relayBody(u *routing.Upstream, response *wire.Response, shape exchange.Shape) error {
	if x.tooLarge(response.ContentLength) {
		return fault.AnswerTooLarge
	}
	reader := x.answerReader(shape, response)
	piece, err := x.firstPiece(reader)
	if err != nil && !errors.Is(err, io.EOF) {
		return fault.BrokenOff(err)
	}
	if x.tooLarge(int64(len(piece.Raw))) {
		return fault.AnswerTooLarge
	}
	if len(piece.Raw) == 0 && shape == exchange.JSON && x.strict(response) {
		return fault.BadUpstream
	}
	says := x.peek(piece.Message, piece.Cut)
	instead, failure := x.observe(u, piece, says, x.strict(response))
	if failure != nil {
		return failure
	}
	if instead != nil {
		x.respond(wire.StatusOK, instead)
		return nil
	}
	if x.stopgap.isOpen() {
		return x.endStopgap(response, reader, piece)
	}
	if err := x.bindSession(u, ""); err != nil {
		return err
	}
	x.inboundHeaders(response)
	piece = x.announced(response, piece)
	x.share(response.Status, piece, says, true)
	x.writeHeader(response.Status)
	return x.copyPieces(reader, piece, response.ContentLength < 0)
}

// copyPieces writes piece and all that follow, as long as it is no more than an answer
// may have. One of unknown length is flushed as it comes.
func (x *request) copyPieces(reader *exchange.Reader, piece exchange.Piece, flush bool) error {
	for {
		if x.tooLarge(x.written + int64(len(piece.Raw))) {
			return fault.AnswerTooLarge
		}
		if len(piece.Raw) > 0 {
			if err := x.write(piece.Raw); err != nil {
				return err
			}
			if flush {
				_ = x.flush() // a client that is gone shows at the next write
			}
		}
		next, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fault.BrokenOff(err)
		}
		piece = next
	}
}

// writeHeader sends the status, once.
func (x *request) writeHeader(status int) {
	if isClosed(x.p.end.draining) {
		x.w.Header().Set("Connection", "close")
	}
	x.status, x.begun = status, time.Now()
	x.w.WriteHeader(status)
}

// writeAtOnce is the most that one deadline is for: a client that takes it within
// WriteStall is slow, not gone.
const writeAtOnce = 16 << 10

// write writes to the client. A client that takes nothing for WriteStall is gone.
func (x *request) write(b []byte) error {
	for part := range slices.Chunk(b, writeAtOnce) {
		x.limitWrite()
		n, err := x.w.Write(part)
		x.written += int64(n)
		if err != nil {
			return fmt.Errorf("%w: %w", fault.ErrClientGone, err)
		}
	}
	return nil
}

// writeThrough writes to the client, flushed.
func (x *request) writeThrough(b []byte) error {
	if err := x.write(b); err != nil {
		return err
	}
	return x.flush()
}

// writeEvent writes a message as an event, flushed. A large one is no copy.
func (x *request) writeEvent(message mcp.Parts) error {
	if message.Len() <= writeAtOnce {
		return x.writeThrough(event(message.Bytes()))
	}
	out := bufio.NewWriterSize(bodyWriter{x}, writeAtOnce)
	if err := writeEvent(out, message); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return x.flush()
}

// bodyWriter is the answer's body as an io.Writer.
type bodyWriter struct{ x *request }

// Write implements io.Writer.
func (w bodyWriter) Write(b []byte) (int, error) {
	if err := w.x.write(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// flush sends what was written so far, within the same time.
func (x *request) flush() error {
	x.limitWrite()
	if err := x.w.Flush(); err != nil {
		return fmt.Errorf("%w: %w", fault.ErrClientGone, err)
	}
	return nil
}

func (x *request) limitWrite() {
	// Errors of deadlines only mean that the connection has none.
	_ = x.w.SetWriteDeadline(time.Now().Add(x.Table.Limits.WriteStall))
}
