package storage

type reason string

const (
	reasonTimeout     reason = "timeout"      // no answer and no connection in time
	reasonRefused     reason = "refused"      // no connection to be had, or it was cut
	reasonBreakerOpen reason = "breaker_open" // not asked: the breaker is open
	reasonBusy        reason = "busy"         // not asked: this process asks more at once than is answered in time
	reasonOOM         reason = "oom"          // the server's memory is full; reads go on
	reasonReadonly    reason = "readonly"     // a replica; reads go on
	reasonLoading     reason = "loading"      // up, without data to serve: LOADING, MASTERDOWN, CLUSTERDOWN, MOVED
	reasonAuth        reason = "auth"         // wrong password, or a command not permitted
	reasonDisk        reason = "disk"         // the file cannot be written: full or failing; reads go on
	reasonCorrupt     reason = "corrupt"      // the file does not hold what was written to it
	// reasonUnreplicated: written on the master, and not by enough replicas in time.
	reasonUnreplicated reason = "unreplicated"
	reasonOther        reason = "other"
)

// fault is why an operation found the store unavailable. It is ErrUnavailable by
// errors.Is and never wraps a driver's error: those may quote the password.
type fault struct {
	op     string
	reason reason
	detail string // scrubbed

	// refusal means that the server answered and refused this command only, which
	// says nothing about the next one. The breaker ignores it.
	refusal bool

	// deadline is the context error when the caller's own deadline passed, else nil.
	deadline error
}

// Error names the operation, the reason and what the driver said.
func (f *fault) Error() string {
	return ErrUnavailable.Error() + ": " + f.op + ": " + string(f.reason) + ": " + f.detail
}

// Unwrap makes the fault an ErrUnavailable, and a deadline where there was one.
func (f *fault) Unwrap() []error {
	if f.deadline != nil {
		return []error{ErrUnavailable, f.deadline}
	}
	return []error{ErrUnavailable}
}
