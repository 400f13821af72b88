package config

import (
	"os"
	"path/filepath"
	"testing"
)

// Some editors put a byte order mark before a token.
func TestAByteOrderMarkIsNoPartOfASecret(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("\ufefft0ken\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if token, err := (Admin{TokenFile: file}).ReadToken(); err != nil || token != "t0ken" {
		t.Errorf("read %q, %v", token, err)
	}
}
