package config

import (
	"errors"
	"fmt"
	"strings"
)

// maxToken bounds what is read from a token file, in bytes.
const maxToken = 4096

// ErrToken reports a token that cannot travel in an Authorization header.
var ErrToken = errors.New("config: admin token must be 1 to 4096 visible ASCII characters without blanks")

// ReadToken returns the admin token: Token itself, or the content of TokenFile
// without surrounding white space; "" if neither is set. The file is read at the
// call and not when the configuration is loaded, for it may not exist where a
// file is merely checked.
func (a Admin) ReadToken() (string, error) {
	if a.TokenFile == "" {
		return string(a.Token), nil
	}
	token, err := readSecretFile("admin.token_file", a.TokenFile, maxToken)
	if err != nil {
		return "", err
	}
	if !validToken(token) {
		return "", fmt.Errorf("config: reading admin.token_file: %w", ErrToken)
	}
	return token, nil
}

func validToken(s string) bool {
	return s != "" && len(s) <= maxToken && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}
