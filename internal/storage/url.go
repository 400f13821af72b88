package storage

import (
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

const mask = "xxxxx"

// The errors about URLs are fixed sentences: url.Parse and redis.ParseURL quote
// pieces of what they could not read, and in a URL with an unescaped "/" or "#"
// those pieces are the password.
var (
	errURL       = errors.New("storage: malformed store URL (special characters in a password must be percent-encoded)")
	errScheme    = errors.New("storage: unknown store, want memory:, file:, redis://, rediss://, unix://, redis+sentinel:// or redis+cluster://")
	errMemoryURL = errors.New("storage: memory: takes nothing after the colon")
)

// target is a store URL taken apart.
type target struct {
	name    string                  // the URL without its secrets
	redis   *redis.UniversalOptions // nil for memory: and file:
	file    string                  // the path of file:, else empty
	secrets []string                // what must not appear in any text
}

// CheckURL says what is wrong with a store URL, as Open would, without opening it.
// Its errors quote nothing of it.
func CheckURL(raw string) error {
	_, err := parseURL(raw)
	return err
}

func parseURL(raw string) (target, error) {
	scheme, rest, found := strings.Cut(raw, ":")
	if !found {
		return target{}, errScheme
	}
	switch strings.ToLower(scheme) {
	case "memory":
		if raw != "memory:" {
			return target{}, errMemoryURL
		}
		return target{name: raw}, nil
	case "file":
		return parseFileURL(rest)
	case "redis", "rediss", "unix":
		return parseRedisURL(raw)
	case "redis+sentinel", "rediss+sentinel":
		return parseSentinelURL(raw)
	case "redis+cluster", "rediss+cluster":
		return parseClusterURL(raw)
	default:
		return target{}, errScheme
	}
}

// scrub takes the secrets out of what a server or a driver said. Redis quotes the
// arguments of a command that it does not know, escaped and shortened; AUTH and
// HELLO can be such commands, so the quotation goes as a whole.
func (t target) scrub(text string) string {
	text, _, _ = strings.Cut(text, ", with args")
	for _, secret := range t.secrets {
		text = strings.ReplaceAll(text, secret, mask)
	}
	return text
}
