package verbs

import (
	"slices"
	"testing"

	"github.com/urfave/cli/v2"
)

// Each verb that speaks to an admin listener can speak to one over TLS.
func TestVerbsSpeakToAListenerOverTLS(t *testing.T) {
	var look func(all []*cli.Command)
	look = func(all []*cli.Command) {
		for _, c := range all {
			var names []string
			for _, flag := range c.Flags {
				names = append(names, flag.Names()...)
			}
			if slices.Contains(names, "admin") && (!slices.Contains(names, "admin-ca") || !slices.Contains(names, "admin-cert")) {
				t.Errorf("%s takes %v", c.Name, names)
			}
			look(c.Subcommands)
		}
	}
	look(Commands())
}
