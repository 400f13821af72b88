package redis

import (
	"strings"

	"github.com/redis/go-redis/v9"
)

const mask = "xxxxx"

// Servers are what a URL names: one server, or several by which the others are found.
type Servers struct {
	Name    string // the URL without its secrets
	options *redis.UniversalOptions
	secrets []string // what must not appear in any text
}

// scrub takes the secrets out of what a server or a driver said. Redis quotes the arguments of a
// command that it does not know, as AUTH may be, escaped and shortened: that goes as a whole.
func (s *Servers) scrub(text string) string {
	text, _, _ = strings.Cut(text, ", with args")
	for _, secret := range s.secrets {
		text = strings.ReplaceAll(text, secret, mask)
	}
	return text
}
