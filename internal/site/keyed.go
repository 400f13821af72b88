package site

import (
	"errors"
	"fmt"
	"strings"

	"berth/internal/reload"
)

// keyedError says of which key an error is.
type keyedError struct {
	key string
	error
}

func (e *keyedError) Unwrap() error { return e.error }

// at says that err is of what key names, or of a file that one below it names.
func at(key string, err error) error {
	file, ok := errors.AsType[*reload.Error](err)
	switch {
	case ok && strings.HasPrefix(file.Key, key):
		key = file.Key
	case ok:
		key += "." + file.Key // in the pool's words
	}
	return &keyedError{key, err}
}

// eachAt is at for each of the faults that err is. who, if not "", begins their words.
func eachAt(key, who string, err error) error {
	var all []error
	for _, one := range reload.Each(err) {
		if who != "" {
			one = fmt.Errorf("%s: %w", who, one)
		}
		all = append(all, at(key, one))
	}
	return reload.Join(all...)
}

// KeyOf is the key that err is of; "": it does not say.
func KeyOf(err error) string {
	if keyed, ok := errors.AsType[*keyedError](err); ok {
		return keyed.key
	}
	return ""
}
