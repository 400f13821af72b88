package config

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"berth/internal/filetext"
	"berth/internal/seal"
	"berth/internal/storage"
)

// Bounds of secrets as they are written, in bytes.
const (
	maxToken         = 4096
	maxSealKey       = 4096
	maxURL           = 8 << 10
	maxAuthorization = 8 << 10
)

var (
	// ErrToken reports a token that cannot travel in an Authorization header.
	ErrToken = errors.New("config: admin token must be 1 to 4096 visible ASCII characters without blanks")

	// ErrSealKey reports a seal key that cannot be read, or is too short.
	ErrSealKey = errors.New("config: store.seal_key must be the base64 form of at least 32 random bytes (openssl rand -base64 32)")
)

// ReadToken returns the admin token; "" if there is none. A file is read at the call: it may not
// exist where a configuration is merely checked.
func (a Admin) ReadToken() (string, error) {
	if a.TokenFile == "" {
		return string(a.Token), nil
	}
	token, err := readSecretFile("admin.token_file", a.TokenFile, maxToken)
	if err == nil && !validToken(token) {
		err = fmt.Errorf("config: reading admin.token_file: %w", ErrToken)
	}
	if err != nil {
		return "", err
	}
	return token, nil
}

func validToken(s string) bool { return isVisible(s) && len(s) <= maxToken }

// ReadSealKey returns the seal key, decoded; nil if there is none. A file is read at the call.
func (s Store) ReadSealKey() ([]byte, error) {
	if s.SealKeyFile == "" {
		if s.SealKey == "" {
			return nil, nil
		}
		return decodeSealKey(string(s.SealKey))
	}
	text, err := readSecretFile("store.seal_key_file", s.SealKeyFile, maxSealKey)
	if err != nil {
		return nil, err
	}
	key, err := decodeSealKey(text)
	if err != nil {
		return nil, fmt.Errorf("config: reading store.seal_key_file: %w", err)
	}
	return key, nil
}

// readURL returns what URLFile holds.
func (s Store) readURL() (Secret, error) {
	url, err := readSecretFile("store.url_file", s.URLFile, maxURL)
	if err == nil && len(url) > maxURL {
		err = fmt.Errorf("config: reading store.url_file: %s is larger than %d bytes", s.URLFile, maxURL)
	}
	if err != nil {
		return "", err
	}
	if err := storage.CheckURL(url); err != nil {
		return "", fmt.Errorf("config: reading store.url_file: %w", err)
	}
	return Secret(url), nil
}

// StartSecrets are digests of what those files hold that are read at the start alone, by their keys. Of a file that is none, as a pipe
// is whose secret is read once, or that cannot be read, there is no digest.
func (c Config) StartSecrets() map[string][sha256.Size]byte {
	all := map[string][sha256.Size]byte{}
	for key, path := range map[string]string{
		"admin.token_file": c.Admin.TokenFile, "store.seal_key_file": c.Store.SealKeyFile, "store.url_file": c.Store.URLFile,
	} {
		if of, err := os.Stat(path); err != nil || !of.Mode().IsRegular() {
			continue
		}
		if text, err := readSecretFile(key, path, maxURL); err == nil {
			all[key] = sha256.Sum256([]byte(text))
		}
	}
	return all
}

// decodeSealKey reads base64, padded or not. A key in hexadecimal form is such, too, and loses
// nothing.
func decodeSealKey(text string) ([]byte, error) {
	key, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil || len(text) > maxSealKey || len(key) < seal.MinSecret {
		return nil, ErrSealKey
	}
	return key, nil
}

// ValidAuthorization judges the value of an Authorization header: a scheme, and what it wants.
func ValidAuthorization(s string) bool {
	scheme, rest, ok := strings.Cut(s, " ")
	return ok && scheme != "" && strings.TrimSpace(rest) != "" && s == strings.TrimSpace(s) && len(s) <= maxAuthorization &&
		!strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// readSecretFile returns at most limit bytes and one, without surrounding white space. key names
// path.
func readSecretFile(key, path string, limit int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("config: opening %s: %w", key, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return "", fmt.Errorf("config: reading %s: %w", key, err)
	}
	return filetext.Word(data), nil
}
