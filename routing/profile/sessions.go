package profile

// Sessions says what an upstream's last answer to initialize, or its refusal of a request since, has shown.
type Sessions uint8

const (
	SessionsUnknown  Sessions = iota
	SessionsNone              // it has handed out none: clients of the legacy era come without
	SessionsDemanded          // it hands them out, or has refused a request without one
)

// NoteSessions notes whether the upstream works in sessions.
func (r *Record) NoteSessions(s Sessions) {
	if r.Profile().Sessions != s {
		r.learn(func(f *Profile) { f.Sessions = s })
	}
}
