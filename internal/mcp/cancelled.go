package mcp

import "encoding/json"

// Cancelled returns a notifications/cancelled about the request with this raw id
// (2025-11-25, "Cancellation").
func Cancelled(id []byte, reason string) []byte {
	text, _ := json.Marshal(reason) // strings always marshal
	out := append([]byte(`{"jsonrpc":"2.0","method":"`+MethodCancelled+`","params":{"requestId":`), id...)
	out = append(append(out, `,"reason":`...), text...)
	return append(out, "}}"...)
}

// CancelledID returns the raw id of the request that a notifications/cancelled is about,
// nil if there is none. It aliases message.
func CancelledID(message []byte) []byte {
	from, to, ok := locate(message, "params", "requestId")
	if !ok {
		return nil
	}
	return message[from:to]
}
