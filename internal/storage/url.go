package storage

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

const mask = "xxxxx"

// Errors about URLs are fixed sentences: url.Parse and redis.ParseURL quote pieces of what they
// could not read, which in a URL with an unescaped "/" or "#" are the password.
var (
	errURL       = errors.New("storage: malformed store URL (special characters in a password must be percent-encoded)")
	errScheme    = errors.New("storage: unknown store, want memory:, file:, redis://, rediss://, unix://, redis+sentinel:// or redis+cluster://")
	errMemoryURL = errors.New("storage: memory: takes nothing after the colon")
)

type target struct {
	name    string                  // the URL without its secrets
	redis   *redis.UniversalOptions // nil for memory: and file:
	file    string                  // the path of file:, else empty
	secrets []string                // what must not appear in any text
}

// CheckURL says what is wrong with a store URL, as Open would, and quotes nothing of it.
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

// scrub takes the secrets out of what a server or a driver said. Redis quotes the arguments of a
// command that it does not know, as AUTH may be, escaped and shortened: that goes as a whole.
func (t target) scrub(text string) string {
	text, _, _ = strings.Cut(text, ", with args")
	for _, secret := range t.secrets {
		text = strings.ReplaceAll(text, secret, mask)
	}
	return text
}

var errFileURL = errors.New("storage: malformed file URL, want file:PATH: the path of a file, as it is, without ? and #")

// parseFileURL reads the path after "file:", with nothing encoded. Before an absolute one may stand
// the empty host of a URL, as in file:///var/lib. The characters that begin options are kept free
// for them.
func parseFileURL(path string) (target, error) {
	if rest, ok := strings.CutPrefix(path, "//"); ok {
		if !strings.HasPrefix(rest, "/") {
			return target{}, errFileURL
		}
		path = rest
	}
	unfit := func(r rune) bool { return r < ' ' || r == 0x7f || r == '?' || r == '#' }
	if path == "" || strings.ContainsFunc(path, unfit) || os.IsPathSeparator(path[len(path)-1]) {
		return target{}, errFileURL
	}
	path = filepath.Clean(path)
	return target{name: "file:" + path, file: path}, nil
}

const maxReplicas = 32

var (
	errDurability = errors.New(`storage: unknown durability, want "ack" or "replicas:N" with N from 1 to 32`)
	errNoReplicas = errors.New("storage: only Redis has replicas to wait for")
)

type durability struct {
	replicas int // of the Redis master, beside it; 0: none
}

// CheckDurability says what is wrong with a durability for the store of url, as Open would; a wrong
// URL is not reported here.
func CheckDurability(url, text string) error {
	t, err := parseURL(url)
	if err != nil {
		_, err = parseDurability(text)
		return err
	}
	_, err = t.durability(text)
	return err
}

func (t target) durability(text string) (durability, error) {
	d, err := parseDurability(text)
	if err == nil && d.replicas > 0 && t.redis == nil {
		return durability{}, errNoReplicas
	}
	return d, err
}

func parseDurability(text string) (durability, error) {
	if text == "" || text == "ack" {
		return durability{}, nil
	}
	count, ok := strings.CutPrefix(text, "replicas:")
	n, err := strconv.Atoi(count)
	if !ok || err != nil || n < 1 || n > maxReplicas || strconv.Itoa(n) != count {
		return durability{}, errDurability
	}
	return durability{replicas: n}, nil
}
