package reply

import (
	"io"

	"berth/internal/exchange"
	"berth/proxy/fault"
)

// FirstPiece reads the first piece of an answer, beside an early stream if there is one: until
// it is here the client has nothing of it, whenever the headers came.
func (w *Writer) FirstPiece(reader *exchange.Reader) (exchange.Piece, error) {
	if w.Early == nil {
		return reader.Next()
	}
	return During(w.Early, reader.Next)
}

// CopyPieces writes piece and all that follow, as long as it is no more than an answer
// may have. One of unknown length is flushed as it comes. The header was written just now.
func (w *Writer) CopyPieces(reader *exchange.Reader, piece *exchange.Piece, flush bool) error {
	for now := w.Begun; ; now = w.now() {
		if w.TooLarge(w.Written + int64(len(piece.Raw))) {
			return fault.AnswerTooLarge
		}
		if len(piece.Raw) > 0 {
			if err := w.writeFrom(now, piece.Raw); err != nil {
				return err
			}
			if flush {
				_ = w.Flush() // a client that is gone shows at the next write
			}
		}
		next, err := reader.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fault.BrokenOff(err)
		}
		*piece = next
	}
}
