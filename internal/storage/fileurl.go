package storage

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

var errFileURL = errors.New("storage: malformed file URL, want file:PATH: the path of a file, as it is, without ? and #")

// parseFileURL reads what follows "file:": a path, relative to the working directory or
// absolute, with nothing encoded. Before an absolute one may stand the empty host of a
// URL, as in file:///var/lib. The characters that begin options in a URL are kept free
// for them. The file is not looked at.
func parseFileURL(path string) (target, error) {
	if rest, ok := strings.CutPrefix(path, "//"); ok {
		if !strings.HasPrefix(rest, "/") {
			return target{}, errFileURL
		}
		path = rest
	}
	unfit := func(r rune) bool { return r < ' ' || r == 0x7f || r == '?' || r == '#' }
	if path == "" || strings.ContainsFunc(path, unfit) || os.IsPathSeparator(path[len(path)-1]) {
		return target{}, errFileURL
	}
	path = filepath.Clean(path)
	return target{name: "file:" + path, file: path}, nil
}
