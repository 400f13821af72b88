package admission

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/proxy/inbound"
)

// output is what was logged, and not looked at yet.
type output chan string

func (o output) Write(line []byte) (int, error) {
	o <- string(line)
	return len(line), nil
}

// Its end is logged 10 s after the last request that was turned away, also where nobody asks for anything since.
func TestTheEndOfSheddingIsLoggedWithoutARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines, log := make(output, 16), ""
		g := New(inbound.Limits{}.WithDefaults(), nil, slog.New(slog.NewJSONHandler(lines, nil)))
		logged := func(begins, ends int) {
			t.Helper()
			synctest.Wait()
			for len(lines) > 0 {
				log += <-lines
			}
			if b, e := strings.Count(log, "load is shed"), strings.Count(log, "load is not shed any more"); b != begins || e != ends {
				t.Errorf("logged %d times, and %d times that it is over, want %d and %d", b, e, begins, ends)
			}
		}
		for episode := range 2 {
			_ = g.full(shedInFlight)
			time.Sleep(relieved / 2)
			_ = g.full(shedInFlight)
			time.Sleep(relieved - time.Second)
			logged(episode+1, episode)
			time.Sleep(2 * time.Second)
			logged(episode+1, episode+1)
		}
		time.Sleep(time.Hour)
		logged(2, 2)
	})
}
