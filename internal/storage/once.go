package storage

import "github.com/redis/go-redis/v9"

// once is a command that the driver does not send again after it may have arrived. Its
// client of a cluster would, whatever MaxRetries says: it takes a broken connection
// for a redirection. To where MOVED and ASK point a command still goes: a server
// that redirects has not executed it.
type once struct{ redis.Cmder }

// NoRetry implements redis.Cmder.
func (once) NoRetry() bool { return true }
