package seal

import (
	"bytes"
	"testing"
)

// What the store keeps of a session opens for who has its id, for what it was sealed
// for, and as it was.
func TestSessionOpensByItsIDOnly(t *testing.T) {
	sealed := Session("id-1", "alias", []byte("secret"))
	if plain, err := OpenSession("id-1", "alias", sealed); err != nil || string(plain) != "secret" {
		t.Fatalf("got %q, %v", plain, err)
	}
	if bytes.Contains(sealed, []byte("secret")) || bytes.Equal(sealed, Session("id-1", "alias", []byte("secret"))) {
		t.Error("what is sealed tells of what is in it")
	}
	changed := bytes.Clone(sealed)
	changed[len(changed)/2] ^= 1
	for name, open := range map[string]func() ([]byte, error){
		"another id":  func() ([]byte, error) { return OpenSession("id-2", "alias", sealed) },
		"another use": func() ([]byte, error) { return OpenSession("id-1", "handshake", sealed) },
		"changed":     func() ([]byte, error) { return OpenSession("id-1", "alias", changed) },
		"cut":         func() ([]byte, error) { return OpenSession("id-1", "alias", sealed[:5]) },
	} {
		if plain, err := open(); err == nil {
			t.Errorf("%s: got %q, want an error", name, plain)
		}
	}
}
