package proxy

// tooLarge reports whether so many bytes are more than an answer, or an event of a
// stream, may have. A stream as a whole may have any number.
func (x *request) tooLarge(n int64) bool {
	most := x.Table.Limits.Answer
	return most > 0 && n > most
}

// grow counts bytes of the event under way. tooLarge says that it may not go on.
func (s *stream) grow(n int, ends bool) (tooLarge bool) {
	s.event += int64(n)
	tooLarge = s.x.tooLarge(s.event)
	if ends {
		s.event = 0
	}
	return tooLarge
}
