//go:build linux

package contender

import (
	"strings"
	"testing"
)

func TestSumsOfADumpAreTakenByTheirNames(t *testing.T) {
	for dump, want := range map[string]Counts{
		"events: Ir\nfn=(1) f\n1 7\ntotals: 7\n":                                          {Instructions: 7},
		"events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\ntotals: 100 30 20 9 8 7 6 5 4\n": {Instructions: 100, Code: 9, Data: 15, Far: 15},
		"events: Ir Dr\ntotals: 3\n":                                                      {Instructions: 3},
		"events: Ir\ntotals: 3 4 5\n":                                                     {Instructions: 3},
	} {
		if got, err := total(strings.NewReader(dump)); got != want || err != nil {
			t.Errorf("%q: got %+v, %v, want %+v", dump, got, err, want)
		}
	}
	for _, dump := range []string{"", "events: Ir\n", "events: Ir\ntotals: many\n"} {
		if got, err := total(strings.NewReader(dump)); err == nil {
			t.Errorf("%q: got %+v, want an error", dump, got)
		}
	}
}
