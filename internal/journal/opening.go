package journal

import (
	"log/slog"
	"strings"
)

// opening is what stands between a line's time and its attributes. The first one that a handler writes it keeps: many have no other.
type opening struct {
	level         slog.Level
	message, text string
}

// appendOpening appends that of a level and a message.
func (h *handler) appendOpening(text []byte, level slog.Level, message string) []byte {
	first := h.first.Load()
	if first != nil && first.level == level && first.message == message {
		return append(text, first.text...)
	}
	from := len(text)
	text = append(append(append(text, `"level":"`...), level.String()...), `","msg":`...)
	if text = appendString(text, message); first == nil && len(message) <= mostOpening {
		h.first.Store(&opening{level, strings.Clone(message), string(text[from:])})
	}
	return text
}

// mostOpening is how long a message is that is kept, at most.
const mostOpening = 64
