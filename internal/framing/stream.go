package framing

import (
	"bytes"
	"errors"
)

var (
	errTooLong  = errors.New("head longer than the limit")
	errBareLF   = errors.New("line feed without carriage return")
	errChunkEnd = errors.New("chunk longer than its size")
)

type place int

const (
	requestLine place = iota
	fieldLine
	bodyData
	chunkSizeLine
	chunkData
	chunkEndLine
	trailerLine
)

// stream follows the bytes of one connection, and is the only judge of where a message ends:
// wherever net/http could see another end, it refuses.
type stream struct {
	maxHeader int

	at     place
	head   head
	data   int64  // bytes of the body, or of the chunk, still to come
	line   []byte // what earlier reads brought of the current line
	budget int    // bytes that the current head, trailer section or chunk line may still take
}

// pass returns how many of p's bytes may go on. If that is not all, err says why, and the stream
// must be given nothing more. Line feeds of bad lines are never among them.
func (s *stream) pass(p []byte) (n int, err error) {
	for n < len(p) {
		if s.at == bodyData || s.at == chunkData {
			n += s.skip(len(p) - n)
			continue
		}
		passed, err := s.take(p[n:])
		n += passed
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func (s *stream) skip(n int) int {
	n = int(min(int64(n), s.data))
	s.data -= int64(n)
	switch {
	case s.data > 0:
	case s.at == chunkData:
		s.expect(chunkEndLine)
	default:
		s.next()
	}
	return n
}

func (s *stream) take(p []byte) (int, error) {
	size := bytes.IndexByte(p, '\n') + 1
	whole := size > 0
	if !whole {
		size = len(p)
	}
	if size > s.budget {
		return 0, errTooLong
	}
	s.budget -= size
	line := p[:size]
	if !whole || len(s.line) > 0 {
		s.line = append(s.line, line...)
		line = s.line
	}
	if !whole {
		return size, nil
	}
	s.line = s.line[:0]
	if err := s.judge(line); err != nil {
		return size - 1, err
	}
	return size, nil
}

func (s *stream) judge(line []byte) error {
	line, ok := bytes.CutSuffix(line, []byte("\r\n"))
	if !ok {
		return errBareLF
	}
	switch s.at {
	case requestLine:
		s.at = fieldLine
		return s.head.request(line)
	case fieldLine:
		if len(line) > 0 {
			return s.head.field(line)
		}
		return s.endHead()
	case chunkSizeLine:
		return s.beginChunk(line)
	case chunkEndLine:
		if len(line) > 0 {
			return errChunkEnd
		}
		s.expect(chunkSizeLine)
		return nil
	default:
		if len(line) > 0 {
			return judgeTrailer(line)
		}
		s.next()
		return nil
	}
}

// endHead moves to the body; a request that announces none has none (RFC 9112 section 6.3).
func (s *stream) endHead() error {
	if err := s.head.complete(); err != nil {
		return err
	}
	switch {
	case s.head.chunked:
		s.expect(chunkSizeLine)
	case s.head.length > 0:
		s.at, s.data = bodyData, s.head.length
	default:
		s.next()
	}
	return nil
}

func (s *stream) beginChunk(line []byte) (err error) {
	s.data, err = chunkSize(line)
	s.at = chunkData
	if s.data == 0 {
		s.expect(trailerLine)
	}
	return err
}

func (s *stream) expect(p place) { s.at, s.budget = p, s.maxHeader }

func (s *stream) next() {
	s.expect(requestLine)
	s.head = head{length: noLength}
}
