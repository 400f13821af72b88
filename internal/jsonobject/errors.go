package jsonobject

import (
	"errors"
	"fmt"
)

// AmbiguousError marks JSON that is well formed, and that two readers could understand differently.
type AmbiguousError struct {
	Reason string // one of those below
	Name   string // of the member
}

func (e AmbiguousError) Error() string { return fmt.Sprintf("%s: %q", e.Reason, e.Name) }

// Reasons of an AmbiguousError.
const (
	ReasonDuplicateKey = "duplicate_key" // the name stands there twice
	ReasonKeyCase      = "key_case"      // it differs only in case from one that matters
)

// Why something is not read that is JSON, and not ambiguous.
var (
	ErrNotObject      = errors.New("jsonobject: not an object")
	ErrTooManyMembers = errors.New("jsonobject: too many members in one object")
)
