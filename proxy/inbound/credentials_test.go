package inbound

import (
	"net/url"
	"testing"

	"berth/internal/wire"
)

// A usual header is passed over where nobody would authenticate with it, and counts where the configuration says so.
func TestUsualHeadersAreNobodysUnlessSomebodySaysSo(t *testing.T) {
	for number, name := range wire.UsualNames() {
		for _, trusted := range []bool{false, true} {
			x := &Call{Settings: new(Settings), Trusted: trusted}
			x.HTTP = &wire.Request{Header: wire.NewHeader(name, "v"), URL: new(url.URL)}
			want := len(inLine(name, "v", nil, trusted))
			if want > 0 && usualOfNobody[number] {
				t.Errorf("%s, trusted: %v: it is passed over", name, trusted)
			}
			if got := len(x.Credentials()); got != want {
				t.Errorf("%s, trusted: %v: got %d credentials, want %d", name, trusted, got, want)
			}
			x.Settings = &Settings{CredentialHeaders: []string{name}}
			if want, got := len(inLine(name, "v", x.Settings.CredentialHeaders, trusted)), len(x.Credentials()); got != want {
				t.Errorf("%s, trusted: %v, named by the configuration: got %d credentials, want %d", name, trusted, got, want)
			}
		}
	}
}
