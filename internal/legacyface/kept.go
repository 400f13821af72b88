package legacyface

import (
	"context"
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/internal/wire"
)

const (
	maxEnded  = 64              // streams of a session that are kept behind their end
	keepEnded = 5 * time.Minute // how long they are
)

// listen answers a GET: the standing stream, or the rest of another one. Of one that has ended nothing follows its last event, and there is no
// stream (405): some clients take an error for no answer and ask on, and an empty stream for their standing one that broke.
func (s *session) listen(ctx context.Context, last string) *wire.Response {
	from, after := s.standing, fresh
	if last != "" {
		number, sequence, ok := parseEventID(last)
		if from, after = s.stream(number), sequence; !ok || from == nil {
			return exchange.Refusal(errNoEvent, nil)
		}
	}
	response, err := s.read(ctx, from, after)
	switch {
	case errors.Is(err, errStands):
		return exchange.Refusal(errConflict, nil)
	case errors.Is(err, errOver):
		return notAllowed(errEnd)
	case err != nil:
		return exchange.Refusal(errNoEvent, nil)
	}
	return response
}

// read answers with a stream.
func (s *session) read(ctx context.Context, from *stream, after int) (*wire.Response, error) {
	s.touch()
	body, err := from.read(ctx, after, s.touch)
	if err != nil {
		return nil, err
	}
	return wire.Streamed(body), nil
}

// stream returns the stream of that number, nil if it is not kept.
func (s *session) stream(number int) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if number == standing {
		return s.standing
	}
	return s.streams[number]
}

// keep keeps a stream that ends now for those who resume it. The caller holds mu.
func (s *session) keep(st *stream) {
	st.end()
	s.ended = append(s.ended, st)
	s.forgets = append(s.forgets, time.AfterFunc(keepEnded, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.drop(st)
	}))
	events, size := 0, 0
	for i := len(s.ended) - 1; i >= 0; i-- {
		n, bytes := s.ended[i].kept()
		events, size = events+n, size+bytes
		if i < len(s.ended)-1 && (len(s.ended)-i > maxEnded || events > maxKept || size > maxKeptBytes) {
			s.drop(s.ended[i])
			return
		}
	}
}

// drop forgets an ended stream and all that ended before it; who reads one reads on. The caller
// holds mu.
func (s *session) drop(last *stream) {
	for i, st := range s.ended {
		if st != last {
			continue
		}
		for j, gone := range s.ended[:i+1] {
			delete(s.streams, gone.number)
			s.forgets[j].Stop()
		}
		s.ended, s.forgets = s.ended[i+1:], s.forgets[i+1:]
		return
	}
}
