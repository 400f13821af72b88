package proxy

import "berth/routing"

// takeAll takes a piece and those that were read with it, one by one. done ends the stream.
func (s *stream) takeAll(a *arrival) (done bool, err error) {
	for {
		s.more = a.err == nil && s.reader.Ready()
		if done, err = s.take(a); done || !s.more {
			break
		}
		a.piece, a.err = s.reader.Next()
	}
	if s.more = false; !done || err != nil {
		s.flush() // lest what was released is broken off with the rest
	}
	return done, err
}

// release hands bytes to the client, flushed unless there is more.
func (s *stream) release(b []byte) {
	if s.gone {
		return
	}
	s.unsent = true
	if s.x.out.Write(b) != nil {
		s.gone = true
	}
	if !s.more {
		s.flush()
	}
}

// flush has the client get what was released.
func (s *stream) flush() {
	if s.unsent && !s.gone && s.x.out.Flush() != nil {
		s.gone = true
	}
	s.unsent = false
}

// giveBack releases the lease by which a request was sent, or leaves what it holds to the stream that stands by it, nil for none.
func giveBack(lease *routing.Lease, s *stream) {
	if s != nil && s.lease == nil {
		s.lease = lease.HandOver()
		return
	}
	lease.Release()
}
