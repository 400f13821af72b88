package engine

import "errors"

// Reason is why a store could not be asked or would not serve, as metrics and errors name it.
type Reason string

const (
	ReasonTimeout     Reason = "timeout"      // no answer and no connection in time
	ReasonRefused     Reason = "refused"      // no connection to be had, or it was cut
	ReasonBreakerOpen Reason = "breaker_open" // not asked: the breaker is open
	ReasonBusy        Reason = "busy"         // not asked: this process asks more at once than is answered in time
	ReasonOOM         Reason = "oom"          // the server's memory is full; reads go on
	ReasonReadonly    Reason = "readonly"     // a replica; reads go on
	ReasonLoading     Reason = "loading"      // up, without data to serve: LOADING, MASTERDOWN, CLUSTERDOWN, MOVED
	ReasonAuth        Reason = "auth"         // wrong password, or a command not permitted
	ReasonDisk        Reason = "disk"         // the file cannot be written, or the server cannot save: full or failing; reads go on
	ReasonCorrupt     Reason = "corrupt"      // the file does not hold what was written to it
	// ReasonUnreplicated: written on the master, and not by enough replicas in time.
	ReasonUnreplicated Reason = "unreplicated"
	ReasonOther        Reason = "other"
)

// Fault is ErrUnavailable by errors.Is and never wraps a driver's error: those may quote the
// password.
type Fault struct {
	Op     string
	Reason Reason
	Detail string // scrubbed

	// Refusal: the server refused this command only, which says nothing about the next one.
	Refusal  bool
	Foreign  bool  // a key holds what no berth writes
	Told     bool  // another operation that failed with this one tells the breaker
	Deadline error // the context error when the caller's own deadline passed, else nil
}

// Error names the operation, the reason and what the driver said.
func (f *Fault) Error() string {
	return ErrUnavailable.Error() + ": " + f.Op + ": " + string(f.Reason) + ": " + f.Detail
}

// Unwrap makes the fault an ErrUnavailable, and a deadline where there was one.
func (f *Fault) Unwrap() []error {
	if f.Deadline != nil {
		return []error{ErrUnavailable, f.Deadline}
	}
	return []error{ErrUnavailable}
}

// Answered reports whether the server served, be it with "no such key".
func Answered(err error) bool {
	return err == nil || errors.Is(err, ErrNotFound) || errors.Is(err, ErrConflict) || errors.Is(err, ErrFull)
}
