package storage

import "github.com/redis/go-redis/v9"

// program is a script that runs inside Redis.
type program struct {
	text   string
	digest string // what a server knows it by once it has seen it
}

func newProgram(text string) program {
	return program{text: text, digest: redis.NewScript(text).Hash()}
}

// run has send send the program: by its digest, and with its text if the server does not
// know the digest (after SCRIPT FLUSH, a restart, a fail-over, or because the key has
// moved).
func (p program) run(send func(by, program string) error) error {
	err := send("evalsha", p.digest)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		err = send("eval", p.text)
	}
	return err
}
