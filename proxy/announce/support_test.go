package announce

import (
	"fmt"
	"testing"

	"berth/internal/mcp/taskwire"
)

// Whatever comes to be known, or was asked in vain, what most tools say stays known.
func TestWhatToolsSayMakesRoomForOneAtATime(t *testing.T) {
	var s support
	for i := range maxTools + 1 {
		s.learn(fmt.Sprint(i), taskwire.Optional)
	}
	for i := range 2 * maxTools {
		s.miss(fmt.Sprint(i))
	}
	known := 0
	for i := range maxTools + 1 {
		if _, ok := s.of(fmt.Sprint(i)); ok {
			known++
		}
	}
	if known != maxTools || len(s.fails) != maxTools {
		t.Errorf("%d tools are known, %d questions have failed; want %d of each", known, len(s.fails), maxTools)
	}
}
