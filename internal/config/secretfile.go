package config

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// readSecretFile returns what the file at path holds, at most limit bytes and one,
// without surrounding white space. key is the configuration's name for path.
func readSecretFile(key, path string, limit int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("config: opening %s: %w", key, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return "", fmt.Errorf("config: reading %s: %w", key, err)
	}
	return strings.TrimSpace(string(data)), nil
}
