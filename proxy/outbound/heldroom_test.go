package outbound

import (
	"errors"
	"io"
	"strings"
	"testing"

	"berth/internal/wire"
)

// An answer asks for room once it is larger than most, for all that may come of it.
func TestLargeAnswerAsksForRoom(t *testing.T) {
	for size, want := range map[int]int64{100: 0, unroomed: 0, 300_000: 300_000} {
		asked := int64(0)
		body := strings.Repeat("a", size)
		response := &wire.Response{Status: wire.StatusOK, Header: wire.NewHeader("Content-Type", "application/json"), ContentLength: int64(size)}
		answer := NewHeldAnswer(t.Context(), response, strings.NewReader(body), 1<<20, nil)
		answer.body.take = func(n int64) error {
			asked = n
			return nil
		}
		if got, err := answer.whole(); err != nil || len(got) != size || asked != want {
			t.Errorf("%d bytes: read %d (%v), asked for %d, want %d", size, len(got), err, asked, want)
		}
	}
}

func TestAnswerWithoutRoomIsNotReadOn(t *testing.T) {
	none := errors.New("no room")
	body := strings.NewReader(strings.Repeat("a", 300_000))
	r := &roomReader{body: body, take: func(int64) error { return none }}
	if _, err := io.ReadAll(r); !errors.Is(err, none) || body.Len() < 200_000 {
		t.Errorf("got %v, with %d bytes left", err, body.Len())
	}
}
