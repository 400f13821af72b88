package mcptest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcptest"
)

// A subscription hears of the tasks and the changes that it asked for, after its
// acknowledgement, and of the server's end.
func TestSubscriptionHearsWhatItAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &mcptest.Server{Name: "a"}
		b := newBench(t, s)
		made := b.modern("tools/call", "slow_compute", `"name":"slow_compute","arguments":{"seconds":5,"label":"x"}`)
		id := result[struct{ TaskID string }](t, made).TaskID
		ask := fmt.Sprintf(`"notifications":{"toolsListChanged":true,"taskIds":[%q,"nonesuch"]},`, id) + modernMeta
		resp, err := b.send(t.Context(), http.MethodPost, body("subscriptions/listen", ask),
			"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		read := make(chan string)
		go func() {
			heard, _ := io.ReadAll(resp.Body) // what is missing shows
			read <- string(heard)
		}()
		synctest.Wait()
		s.Announce("notifications/tools/list_changed", nil)
		s.Announce("notifications/prompts/list_changed", nil)
		time.Sleep(6 * time.Second)
		synctest.Wait()
		s.Close()
		heard := <-read
		for _, want := range []string{
			`"notifications":{"toolsListChanged":true,"taskIds":["` + id + `"]}`,
			`"method":"notifications/tools/list_changed"`,
			`"status":"completed"`,
			`"id":1,"result"`,
		} {
			if !strings.Contains(heard, want) {
				t.Errorf("heard %s, want %s in it", heard, want)
			}
		}
		if strings.Contains(heard, "prompts") {
			t.Errorf("heard %s, without having asked for prompts", heard)
		}
	})
}
