package file

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

var errURL = errors.New("storage: malformed file URL, want file:PATH: the path of a file, as it is, without ? and #")

// ParseURL returns the path that stands after "file:", with nothing encoded. Before an absolute one may stand
// the empty host of a URL, as in file:///var/lib. The characters that begin options are kept free
// for them.
func ParseURL(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "//"); ok {
		if !strings.HasPrefix(rest, "/") {
			return "", errURL
		}
		path = rest
	}
	unfit := func(r rune) bool { return r < ' ' || r == 0x7f || r == '?' || r == '#' }
	if path == "" || strings.ContainsFunc(path, unfit) || os.IsPathSeparator(path[len(path)-1]) {
		return "", errURL
	}
	return filepath.Clean(path), nil
}
