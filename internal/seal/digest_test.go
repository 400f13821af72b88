package seal_test

import (
	"testing"

	"berth/internal/seal"
)

// Bindings and logs of earlier versions hold digests: they stay what they are.
func TestADigestStaysWhatItIs(t *testing.T) {
	for secret, want := range map[string]string{"": "", "alice": "K9gGyX8OAK8aH8My"} {
		if got := seal.Digest(secret); got != want {
			t.Errorf("%q: got %q, want %q", secret, got, want)
		}
	}
}
