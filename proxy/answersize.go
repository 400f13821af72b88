package proxy

// grow counts bytes of the event under way. tooLarge says that it may not go on.
func (s *stream) grow(n int, ends bool) (tooLarge bool) {
	s.event += int64(n)
	tooLarge = s.x.out.TooLarge(s.event)
	if ends {
		s.event = 0
	}
	return tooLarge
}
