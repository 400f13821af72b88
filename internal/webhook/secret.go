package webhook

import (
	"encoding/base64"
	"errors"
	"strings"
)

// secretPrefix begins a secret as people and files have it.
const secretPrefix = "whsec_"

// Bounds of a secret, in bytes.
const (
	minSecret = 24
	maxSecret = 64
)

// ErrSecret reports what is no secret. It repeats nothing of it.
var ErrSecret = errors.New(`must be "whsec_" and the base64 form of 24 to 64 random bytes (echo whsec_$(openssl rand -base64 32))`)

// ParseSecret reads a secret as Standard Webhooks writes it: "whsec_", and base64.
func ParseSecret(text string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(text, secretPrefix)
	secret, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(secret) < minSecret || len(secret) > maxSecret {
		return nil, ErrSecret
	}
	return secret, nil
}
