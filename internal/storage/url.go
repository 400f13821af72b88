package storage

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// mask stands where a secret stood.
const mask = "xxxxx"

// The errors about URLs are fixed sentences: url.Parse and redis.ParseURL quote
// pieces of what they could not read, and in a URL with an unescaped "/" or "#"
// those pieces are the password.
var (
	errURL       = errors.New("storage: malformed store URL (special characters in a password must be percent-encoded)")
	errScheme    = errors.New("storage: unknown store, want memory:, file:, redis://, rediss:// or unix://")
	errMemoryURL = errors.New("storage: memory: takes nothing after the colon")
	errRedisURL  = errors.New("storage: malformed Redis URL, want redis://[user:password@]host[:port][/db] or unix://[user:password@]/path[?db=n]")
	errRedisOpt  = errors.New("storage: unknown option in the Redis URL, want db, client_name, pool_size or (rediss) skip_verify")
)

// redisOptions are the parameters that a Redis URL may carry. The driver knows
// more, but those would undo what this package promises about time and retries.
var redisOptions = []string{"db", "client_name", "pool_size", "skip_verify"}

// target is a store URL taken apart.
type target struct {
	name   string         // the URL without its secret
	redis  *redis.Options // nil for memory: and file:
	file   string         // the path of file:, else empty
	secret string         // what must not appear in any text; empty if there is none
}

// CheckURL says what is wrong with a store URL, as Open would, without opening it.
// Its errors quote nothing of it.
func CheckURL(raw string) error {
	_, err := parseURL(raw)
	return err
}

// parseURL reads a store URL. Its errors quote nothing of it.
func parseURL(raw string) (target, error) {
	if path, ok := strings.CutPrefix(raw, "file:"); ok {
		return parseFileURL(path)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return target{}, errURL
	}
	switch u.Scheme {
	case "memory":
		if raw != "memory:" {
			return target{}, errMemoryURL
		}
		return target{name: raw}, nil
	case "redis", "rediss", "unix":
		return parseRedisURL(raw, u)
	default:
		return target{}, errScheme
	}
}

func parseRedisURL(raw string, u *url.URL) (target, error) {
	if u.Opaque != "" || u.Fragment != "" || (u.Hostname() == "") != (u.Scheme == "unix") {
		return target{}, errRedisURL
	}
	for option := range u.Query() {
		if !slices.Contains(redisOptions, option) {
			return target{}, errRedisOpt
		}
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return target{}, errRedisURL
		}
	}
	options, err := redis.ParseURL(raw)
	if err != nil || options.DB < 0 || options.PoolSize < 0 {
		return target{}, errRedisURL
	}
	return target{name: masked(u), redis: options, secret: secretOf(u)}, nil
}

// masked is the URL as it may be shown. A user without a password is masked too:
// it is most likely a password without its colon. The query is left out.
func masked(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if u.User != nil {
		shown.User = url.User(mask)
		if _, ok := u.User.Password(); ok {
			shown.User = url.UserPassword(u.User.Username(), mask)
		}
	}
	return shown.String()
}

// secretOf is the password, decoded as the driver sends it; empty if there is none.
func secretOf(u *url.URL) string {
	if u.User == nil {
		return ""
	}
	if password, ok := u.User.Password(); ok {
		return password
	}
	return u.User.Username()
}

// scrub takes the secret out of what a server or a driver said. Redis quotes the
// arguments of a command that it does not know, escaped and shortened; AUTH and
// HELLO can be such commands, so the quotation goes as a whole.
func (t target) scrub(text string) string {
	text, _, _ = strings.Cut(text, ", with args")
	if t.secret == "" {
		return text
	}
	return strings.ReplaceAll(text, t.secret, mask)
}
