package tasklist

import (
	"errors"
	"strconv"

	"berth/internal/wire"
	"berth/proxy/fault"
)

// Refusal is what an upstream answers in place of a list.
type Refusal struct {
	Response *wire.Response // kept: its body was read
	Body     []byte         // of it, read
	Code     int            // of the JSON-RPC error; 0 if there is none
}

// Error describes the refusal for logs.
func (r *Refusal) Error() string {
	return "tasklist: an upstream refused the list: " + strconv.Itoa(r.Response.Status)
}

// concernsCaller reports whether it is the caller who must act on the refusal, whoever
// of the pool says it: by logging in, or by waiting.
func (r *Refusal) concernsCaller() bool {
	switch r.Response.Status {
	case wire.StatusUnauthorized, wire.StatusForbidden, wire.StatusTooManyRequests:
		return true
	}
	return false
}

// judge sums up why upstreams gave no page. What all of them say instead is the answer;
// what only some say leaves a gap.
func judge(faults []error) error {
	var first *Refusal
	var failed error
	refused := 0
	for _, err := range faults {
		var r *Refusal
		switch {
		case errors.As(err, &r) && r.concernsCaller():
			return r
		case errors.As(err, &r):
			refused++
			if first == nil {
				first = r
			}
		case err != nil && failed == nil:
			failed = err
		}
	}
	switch {
	case failed != nil:
		return failed
	case first != nil && refused == len(faults):
		return first
	case refused > 0:
		return fault.ListUneven
	}
	return nil
}
