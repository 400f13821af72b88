package client

// source is a connection as the reader of a body sees it: one that goes on when it is woken.
type source conn

// Read implements body.Source.
func (s *source) Read(p []byte) (int, error) {
	for {
		n, err := s.in.Read(p)
		if err == nil || !(*conn)(s).goesOn(err) {
			return n, err
		}
	}
}

// wait returns when a byte can be taken, or none will ever. It waits without memory.
func (s *source) wait() error {
	for {
		if err := s.in.WaitReadable(); err == nil || !(*conn)(s).goesOn(err) {
			return err
		}
	}
}

// Peek implements body.Source. It waits without memory.
func (s *source) Peek(n int) ([]byte, error) {
	for {
		if n > 0 && s.in.Buffered() == 0 {
			if err := s.wait(); err != nil {
				return nil, err
			}
		}
		b, err := s.in.Peek(n)
		if err == nil || !(*conn)(s).goesOn(err) {
			return b, err
		}
	}
}

// Discard implements body.Source.
func (s *source) Discard(n int) (int, error) { return s.in.Discard(n) } // of what was seen by Peek

// Buffered implements body.Source.
func (s *source) Buffered() int { return s.in.Buffered() }
