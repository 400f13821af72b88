package storage

import (
	"errors"
	"strings"

	"berth/internal/storage/file"
	"berth/internal/storage/redis"
)

// Errors about URLs are fixed sentences: url.Parse and redis.ParseURL quote pieces of what they
// could not read, which in a URL with an unescaped "/" or "#" are the password.
var (
	errScheme    = errors.New("storage: unknown store, want memory:, file:, redis://, rediss://, unix://, redis+sentinel:// or redis+cluster://")
	errMemoryURL = errors.New("storage: memory: takes nothing after the colon")
)

type target struct {
	name  string         // the URL without its secrets
	redis *redis.Servers // nil for memory: and file:
	file  string         // the path of file:, else empty
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
		path, err := file.ParseURL(rest)
		if err != nil {
			return target{}, err
		}
		return target{name: "file:" + path, file: path}, nil
	case "redis", "rediss", "unix":
		return targetOf(redis.ParseURL(raw))
	case "redis+sentinel", "rediss+sentinel":
		return targetOf(redis.ParseSentinelURL(raw))
	case "redis+cluster", "rediss+cluster":
		return targetOf(redis.ParseClusterURL(raw))
	default:
		return target{}, errScheme
	}
}

func targetOf(s *redis.Servers, err error) (target, error) {
	if err != nil {
		return target{}, err
	}
	return target{name: s.Name, redis: s}, nil
}
