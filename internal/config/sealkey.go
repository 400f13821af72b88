package config

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"berth/internal/seal"
)

// maxSealKey bounds a seal key as it is written, in bytes.
const maxSealKey = 4096

// ErrSealKey reports a seal key that cannot be read, or is too short to be random
// enough.
var ErrSealKey = errors.New("config: store.seal_key must be the base64 form of at least 32 random bytes (openssl rand -base64 32)")

// ReadSealKey returns the seal key: SealKey itself, or what SealKeyFile holds,
// decoded; nil if neither is set. The file is read at the call, as by
// [Admin.ReadToken].
func (s Store) ReadSealKey() ([]byte, error) {
	text := string(s.SealKey)
	if s.SealKeyFile != "" {
		var err error
		if text, err = readSecretFile("store.seal_key_file", s.SealKeyFile, maxSealKey); err != nil {
			return nil, err
		}
	} else if text == "" {
		return nil, nil
	}
	key, err := decodeSealKey(text)
	if err != nil && s.SealKeyFile != "" {
		return nil, fmt.Errorf("config: reading store.seal_key_file: %w", err)
	}
	return key, err
}

// decodeSealKey reads base64 in the standard alphabet, padded or not. A key in
// hexadecimal form is such, too, and loses nothing.
func decodeSealKey(text string) ([]byte, error) {
	key, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil || len(text) > maxSealKey || len(key) < seal.MinSecret {
		return nil, ErrSealKey
	}
	return key, nil
}
