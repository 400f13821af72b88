package journal

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"golang.org/x/sys/unix"
)

// disk has room for so many bytes.
type disk struct {
	room int
	text bytes.Buffer
}

func (d *disk) Write(p []byte) (int, error) {
	n, _ := d.text.Write(p[:min(len(p), d.room)])
	if d.room -= n; n < len(p) {
		return n, unix.ENOSPC
	}
	return n, nil
}

// What a full disk does not take is counted and told once there is room, and no line goes on where another was cut off.
func TestLinesThatAFullDiskDoesNotTakeAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := func(text string) string { return `{"msg":"` + text + `"}` + "\n" }
		for room, want := range map[int]struct {
			text string // of the first lines, without what was cut off
			lost int
		}{
			0:                  {"", 3},
			5:                  {"", 3},
			len(line("a")) - 1: {"a", 2}, // all but its end
			len(line("a")):     {"a", 2},
			len(line("a")) + 3: {"a", 2},
		} {
			out := &disk{room: room}
			j := New(out)
			write := func(text string) { _, _ = j.Write([]byte(line(text))) }
			j.wait([]byte(line("a") + line("b")))
			j.Flush()
			write("c")
			out.room = 1 << 20
			write("d")
			write("e")
			var text strings.Builder
			var lost []int
			for one := range bytes.Lines(out.text.Bytes()) {
				var told struct {
					Msg   string `json:"msg"`
					Level string `json:"level"`
					Lines int    `json:"lines"`
				}
				switch err := json.Unmarshal(one, &told); {
				case err != nil && !bytes.HasPrefix([]byte(line("a")), bytes.TrimSpace(one)) && !bytes.HasPrefix([]byte(line("b")), bytes.TrimSpace(one)):
					t.Errorf("with room for %d: a line is %q", room, one)
				case err != nil: // what was cut off
				case told.Lines > 0:
					lost = append(lost, told.Lines)
					if told.Level != slog.LevelWarn.String() {
						t.Errorf("the loss is told as %q", one)
					}
				default:
					text.WriteString(told.Msg)
				}
			}
			if text.String() != want.text+"de" || len(lost) != 1 || lost[0] != want.lost {
				t.Errorf("with room for %d: %q went out, %v were told to be lost; want %q and %v:\n%s", room, text.String(), lost, want.text+"de", want.lost, out.text.String())
			}
		}
	})
}

// A loss that cannot be told either stays to be told.
func TestALossIsToldOnceThereIsRoomForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &disk{}
		j := New(out)
		lost := 0
		j.OnLoss(func() { lost++ })
		line := []byte("{}\n")
		_, _ = j.Write(line)
		for range 4 {
			out.room = 20 // fewer than the line that tells of it
			_, _ = j.Write(line)
		}
		out.room = 1 << 20
		j.Flush()
		if last := out.text.String(); !bytes.HasSuffix([]byte(last), []byte("\"lines\":5}\n")) {
			t.Errorf("got %q, want 5 lines told to be lost", last)
		}
		if lost != 5 {
			t.Errorf("OnLoss heard of %d, want 5", lost)
		}
	})
}
