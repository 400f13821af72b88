package command

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

var ownHeaders = []string{
	"Accept", "Accept-Encoding", "Connection", "Content-Length", "Content-Type", "Host", "Transfer-Encoding",
	"Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version", "Mcp-Session-Id",
}

// readHeaders reads what a flag was given: NAME: VALUE, or @FILE with one a line. Errors
// repeat no value.
func readHeaders(flag string, given ...string) (http.Header, error) {
	header := http.Header{}
	for _, value := range given {
		lines := []string{value}
		if file, ok := strings.CutPrefix(value, "@"); ok {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", flag, err)
			}
			lines = strings.Split(string(text), "\n")
		}
		for _, line := range lines {
			if err := addHeader(header, line); err != nil {
				return nil, fmt.Errorf("%s: %w", flag, err)
			}
		}
	}
	return header, nil
}

func addHeader(header http.Header, line string) error {
	if strings.TrimSpace(line) == "" {
		return nil
	}
	name, value, ok := strings.Cut(line, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
		return errors.New("want 'NAME: VALUE'")
	}
	if slices.Contains(ownHeaders, http.CanonicalHeaderKey(name)) {
		return fmt.Errorf("%s is the probe's own", http.CanonicalHeaderKey(name))
	}
	header.Add(name, value)
	return nil
}
