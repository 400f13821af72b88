package bridge

import (
	"testing"
	"time"
)

// A session in which a call was left that may be asked something, or broke off, takes no other: the server may ask there what the call
// wants to know, on no call's stream.
func TestASessionWithACallThatWasLeftTakesNoOther(t *testing.T) {
	leaves := func(r *rig) { r.goneAfter(time.Second, asking{name: "asks"}) }
	for name, c := range map[string]struct {
		u     *upstream
		left  func(r *rig)
		stays bool
	}{
		"its client hangs up":             {tool(kind{}, holdsUp), leaves, false},
		"it answers in JSON":              {tool(kind{whole: true}, holdsUp), leaves, false},
		"its answer breaks off":           {tool(kind{plain: true}, func(k *running) { k.result = "" }), func(r *rig) { r.do(asking{name: "asks"}) }, false},
		"its client may be asked nothing": {tool(kind{}, holdsUp), func(r *rig) { r.goneAfter(time.Second, asking{name: "asks", declares: declaresNone}) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			bridged(t, c.u, nil, func(r *rig) {
				c.left(r)
				time.Sleep(time.Second)
				if open := r.open(); (len(open) == 1) != c.stays {
					t.Errorf("sessions %v are open", open)
				}
			})
		})
	}
}
