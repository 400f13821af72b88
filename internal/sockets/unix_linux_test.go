package sockets

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Nobody narrows the file after it was made: between the two others could connect.
func TestASocketIsMadeForItsOwnerAlone(t *testing.T) {
	before := syscall.Umask(0)
	defer syscall.Umask(before)
	path := filepath.Join(t.TempDir(), "admin.sock")
	l, err := ListenUnix(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	info, err := os.Stat(path)
	if err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("made as %v, %v", info.Mode(), err)
	}
}
