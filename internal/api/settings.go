package api

import "time"

// Config is the answer to GET /v1/config: every key as it is in force, without secrets.
type Config struct {
	File   string    `json:"file,omitempty"`
	Read   time.Time `json:"read"`
	Digest string    `json:"digest"`
	Keys   []Key     `json:"keys"`
	// Restart are keys that the file has otherwise by now, and that need a restart.
	Restart []string `json:"restart,omitempty"`
	Fault   string   `json:"fault,omitempty"` // of the last reading, if it was refused
}

// Key is one key.
type Key struct {
	Key    string `json:"key"`    // "pools[0].timeouts.read"
	Value  any    `json:"value"`  // "(secret)" of a secret
	Origin string `json:"origin"` // "default", "file:12", "flag:--store", "env:BERTH_STORE"
}

// Limits is the answer to GET /v1/limits.
type Limits struct {
	Limits []Limit `json:"limits"`
}

// Limit is one bound, and how much of it is used at the berth that answers.
type Limit struct {
	Key     string `json:"key"`            // of the configuration
	Scope   string `json:"scope"`          // "berth", "principal", "fleet", …
	Most    string `json:"most"`           // as configured; "any": of any size
	Used    int64  `json:"used"`           // -1: nobody counts it
	Refused int64  `json:"refused"`        // since the berth began; -1: nobody counts it
	Unit    string `json:"unit,omitempty"` // "requests", "bytes", …
}

// LogOrder is the body of PUT /v1/log-level.
type LogOrder struct {
	Level string `json:"level"` // "debug", "info", "warn" or "error"
	For   int    `json:"for"`   // seconds, 3,600 at most and 300 unless told; then the level of the configuration is back
}

// LogLevel is the answer to GET and PUT /v1/log-level.
type LogLevel struct {
	Level      string    `json:"level"`
	Configured string    `json:"configured"`
	Until      time.Time `json:"until,omitzero"`
}
