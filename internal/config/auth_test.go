package config

import "testing"

// A principal that is no header has no header's name: what asks for the name alone
// must not take "none" for one.
func TestHeaderIsNamedOnlyIfThereIsOne(t *testing.T) {
	for principal, want := range map[string]string{"none": "", "": "", "header:X-User": "X-User"} {
		if name, ok := (Auth{Principal: principal}).Header(); name != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", principal, name, ok, want)
		}
	}
}
