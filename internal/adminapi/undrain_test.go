package adminapi

import (
	"errors"
	"strings"
	"testing"

	"berth/internal/admin"
	"berth/internal/api"
)

// An undrain that another order has overtaken is not told to be the file's doing.
func TestWhyAnUpstreamDrainsThoughItsMarkWasTakenOff(t *testing.T) {
	for want, u := range map[string]api.MayStop{
		"drains_by_file p/a bears no mark": {Pool: "p", Name: "a", Draining: true, By: "file"},
		"drained_again p/a drains again":   {Pool: "p", Name: "a", Draining: true, By: "operator"},
		"drained_again p/b drains again":   {Pool: "p", Name: "b", Draining: true}, // the mark came while it was looked at
	} {
		fault, is := errors.AsType[*admin.Fault](stillDrains(&u))
		if !is || fault.Status != 409 || !strings.HasPrefix(fault.Code+" "+fault.Message, want) {
			t.Errorf("%+v: got %v, want %q", u, fault, want)
		}
	}
	if err := stillDrains(&api.MayStop{Pool: "p", Name: "a"}); err != nil {
		t.Errorf("of one that does not drain: got %v", err)
	}
}
