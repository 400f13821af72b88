package probe_test

import (
	"net/http"
	"strings"
	"testing"

	"berth/internal/mcptest"
	"berth/internal/probe"
)

// What leaks is advised against in the way in which the probe told principals apart.
func TestAdviceNamesTheKindOfPrincipal(t *testing.T) {
	for want, header := range map[string]string{`"jwt"`: "Authorization", `"header:X-User"`: "X-User"} {
		inFakeTime(t, func(t *testing.T) {
			report := probed(t, &mcptest.Server{Name: "a"}, func(o *probe.Options) {
				o.Principals = []http.Header{{header: {"Bearer alice"}}, {header: {"Bearer bob"}}}
			})
			if got := strings.Join(report.Advice, "\n"); !strings.Contains(got, "[auth] principal = "+want+" in") {
				t.Errorf("%s: got %s, want %s", header, got, want)
			}
		})
	}
}
