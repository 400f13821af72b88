package command

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"berth/internal/config"
)

// Who does not run the check learns by the log of a start which pools refuse pages.
func TestStartTellsOfPagesThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		listen  string
		origins []string
		want    int
	}{
		"off loopback":                 {"0.0.0.0:8080", nil, 1},
		"off loopback, with an origin": {"0.0.0.0:8080", []string{"https://app.example"}, 0},
		"on loopback":                  {"127.0.0.1:8080", nil, 0},
	} {
		var log bytes.Buffer
		pool := config.DefaultPool()
		pool.Name, pool.Origins = "tools", c.origins
		cfg := config.Default()
		cfg.Listen, cfg.Pools = c.listen, []config.Pool{pool}
		announcePools(slog.New(slog.NewTextHandler(&log, nil)), cfg)
		refuses := 0
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, "level=INFO") && strings.Contains(line, "no page of another origin") && strings.Contains(line, "pool=tools") {
				refuses++
			}
		}
		if refuses != c.want || !strings.Contains(log.String(), "msg=pool") {
			t.Errorf("%s: got %q, want %d lines about pages", name, log.String(), c.want)
		}
	}
}
