package admin

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Readiness is what /readyz says of a berth.
type Readiness struct {
	Ready  bool     `json:"ready"`
	Checks []string `json:"checks"` // one line each, as /readyz?verbose has them: "[+]store ok"; "draining" alone of one that goes
}

// Ready asks whether berth is ready. The errors are those of [Client.Call]; not to be ready is none.
func (c *Client) Ready(ctx context.Context) (Readiness, error) {
	response, err := c.send(ctx, http.MethodGet, readyPath+"?verbose", http.NoBody)
	if err != nil {
		return Readiness{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxReply))
	if err != nil {
		return Readiness{}, fmt.Errorf("%w at %s: %w", ErrNoBerth, c.address, err)
	}
	if response.StatusCode == http.StatusOK || response.StatusCode == http.StatusServiceUnavailable {
		return Readiness{Ready: response.StatusCode == http.StatusOK, Checks: checksOf(string(text))}, nil
	}
	return Readiness{}, c.refusal(response, text)
}

// checksOf is what /readyz?verbose says but for its verdict.
func checksOf(text string) []string {
	checks := []string{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "readyz:") {
			checks = append(checks, line)
		}
	}
	return checks
}
