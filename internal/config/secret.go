package config

import (
	"fmt"
	"log/slog"
)

// Secret is a string that does not print: formatting, logging or marshalling a
// value that contains one shows only whether it is set. Convert to string where
// the text itself is needed.
type Secret string

const redacted = "[redacted]"

// Format writes a placeholder, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.mask()) }

// LogValue is the placeholder for slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.mask()) }

// MarshalText is the placeholder for JSON and other encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.mask()), nil }

func (s Secret) mask() string {
	if s == "" {
		return ""
	}
	return redacted
}
