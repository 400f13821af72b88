package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"berth/internal/build"
	"berth/internal/jsonobject"
	"berth/internal/jsonscan"

	"github.com/go-json-experiment/json/jsontext"
)

// Messages yields the JSON-RPC messages in data: data itself, or the members of a batch
// (2025-03-26). What is wrong with a batch comes last.
func Messages(data []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if !IsBatch(data) {
			yield(data, nil)
			return
		}
		s := jsonscan.New(data)
		for ok := s.Open('['); ok && s.Element(); {
			if value := s.Value(); value != nil && !yield(value, nil) {
				return
			}
		}
		if !s.End() {
			yield(nil, s.Err())
		}
	}
}

// MayBeMessage reports whether data begins as a message or a batch. What does not, such as a word
// that keeps a stream alive, is ambiguous to nobody.
func MayBeMessage(data []byte) bool {
	trimmed := bytes.TrimLeft(data, " \t\r\n\ufeff")
	return len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[')
}

// IsBatch reports whether data begins as a batch.
func IsBatch(data []byte) bool { return jsontext.Value(data).Kind() == '[' }

// OwnInfo names berth to servers.
func OwnInfo() map[string]any { return map[string]any{"name": "berth", "version": build.Version} }

// OwnMeta returns the `_meta` of a modern request of berth's own.
func OwnMeta(version string) map[string]any {
	return map[string]any{
		MetaVersion:                          version,
		"io.modelcontextprotocol/clientInfo": OwnInfo(),
		MetaCapabilities:                     map[string]any{"extensions": map[string]any{TasksExtension: struct{}{}}},
	}
}

// Cancelled returns a notifications/cancelled about this raw id (2025-11-25, "Cancellation").
func Cancelled(id []byte, reason string) []byte {
	text, _ := json.Marshal(reason) // strings always marshal
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":{"requestId":%s,"reason":%s}}`, MethodCancelled, id, text)
}

// ErrCancelled is why something ends that its client has cancelled.
var ErrCancelled = errors.New("cancelled by the client")

// WhyCancelled is the reason that a notifications/cancelled gives for what cause has ended; nil, and context.Canceled: that its client is gone.
func WhyCancelled(cause error) string {
	worded, _ := errors.AsType[*Error](cause)
	switch {
	case cause == nil, errors.Is(cause, context.Canceled):
		return "the client has hung up"
	case errors.Is(cause, ErrCancelled):
		return "the client has cancelled it"
	case errors.Is(cause, context.DeadlineExceeded), worded != nil && worded.Reason == ReasonTimeout:
		return "it has timed out"
	}
	return "it was given up"
}

// CancelledState returns a notification that a call which waits for its client is given up, by its requestState, raw, and why. It is berth's
// own: of the calls that its bridge holds.
func CancelledState(state []byte, reason string) []byte {
	text, _ := json.Marshal(reason) // strings always marshal
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":{"requestId":"berth","requestState":%s,"reason":%s}}`, MethodCancelled, state, text)
}

// MethodIsMoot asks whether nobody waits for the answers any more that a requestState is about. It is berth's own, of the calls that its
// bridge holds: 204 says that nobody does.
const MethodIsMoot = "notifications/berth/is_moot"

// IsMoot returns that question about a requestState, raw.
func IsMoot(state []byte) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":{"requestState":%s}}`, MethodIsMoot, state)
}

// CancelledID returns the raw id that a notifications/cancelled is about, which aliases message;
// nil for none.
func CancelledID(message []byte) []byte { return jsonobject.At(message, "params", "requestId") }

// Param returns a string among a message's params, "" if there is none of this name.
func Param(message []byte, name string) string {
	s, _ := jsonobject.Text(jsonobject.At(message, "params", name))
	return s
}

// WithCancelledID returns a notifications/cancelled about another raw id; every other byte stays.
func WithCancelledID(message, id []byte) []byte {
	return jsonobject.Replace(message, id, "params", "requestId")
}

// LogLevelOf is the level of a notifications/message, "" if it has none.
func LogLevelOf(message []byte) string {
	level, _ := jsonobject.Text(jsonobject.At(message, "params", "level"))
	return level
}

// levels are those of RFC 5424 as MCP spells them, the least severe first.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// Severity orders log levels; -1 is none.
func Severity(level string) int {
	for i, name := range levels {
		if name == level {
			return i
		}
	}
	return -1
}
