package config

import (
	"path/filepath"
	"strings"
)

// stateFile is the store's file in a directory that is berth's own.
const stateFile = "berth.db"

// EffectiveURL returns URL or, where none is given, a file in the state directory that
// the service manager gave, or memory: without one. stateDirectory is the value of
// $STATE_DIRECTORY: one path, or several with colons between, of which the first counts
// (systemd.exec(5), StateDirectory=). given says that it decided.
func (s Store) EffectiveURL(stateDirectory string) (url Secret, given bool) {
	directory, _, _ := strings.Cut(stateDirectory, ":")
	switch {
	case s.URL != "":
		return s.URL, false
	case directory == "":
		return "memory:", false
	}
	return Secret("file:" + filepath.Join(directory, stateFile)), true
}
