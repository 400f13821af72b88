package task

// Refusal says which bound keeps a caller from making a task, or from being given an outcome.
type Refusal struct {
	Err    error  // ErrTooMany, ErrTooMuchKept or ErrTooMuchLent
	Reason string // the bound, as metrics name it
}

// Error implements error.
func (r *Refusal) Error() string { return r.Err.Error() + " (" + r.Reason + ")" }

// Unwrap returns Err.
func (r *Refusal) Unwrap() error { return r.Err }
