package reload_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"testing"

	"berth/internal/reload"
)

// An error in one's own words stays whole, whatever it has beneath.
func TestFaultsAreTakenApartAndNothingElse(t *testing.T) {
	worded, joined := fmt.Errorf("a key and its certificate: %w, %w", io.EOF, fs.ErrNotExist), errors.Join(io.EOF, io.ErrNoProgress)
	all := reload.Join(reload.Join(worded, nil), nil, reload.Join(io.ErrClosedPipe, joined))
	if got, want := reload.Each(all), []error{worded, io.ErrClosedPipe, joined}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if want := worded.Error() + "\n" + io.ErrClosedPipe.Error() + "\n" + joined.Error(); all.Error() != want {
		t.Errorf("got %q, want %q", all, want)
	}
	if !errors.Is(all, fs.ErrNotExist) || errors.Is(all, io.ErrShortWrite) {
		t.Error("what is beneath them is not found")
	}
	if got := reload.Each(worded); len(got) != 1 || got[0] != worded {
		t.Errorf("one alone: got %q", got)
	}
	if err := reload.Join(nil, reload.Join()); err != nil || len(reload.Each(err)) != 0 {
		t.Errorf("none: got %q", err)
	}
}
