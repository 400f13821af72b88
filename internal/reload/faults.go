package reload

import "strings"

// Faults are all errors of one reading, in its order.
type Faults []error

// Join returns the errors that are there as Faults, which have none among them; nil: there are none.
func Join(errs ...error) error {
	var all Faults
	for _, err := range errs {
		all = append(all, Each(err)...)
	}
	if all == nil {
		return nil
	}
	return all
}

// Each returns the errors that err is as Faults, or err alone.
func Each(err error) []error {
	faults, several := err.(Faults)
	switch {
	case several:
		return faults
	case err == nil:
		return nil
	}
	return []error{err}
}

// Error implements error, with one a line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, err := range f {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap has errors.Is and errors.As look at all of them.
func (f Faults) Unwrap() []error { return f }
