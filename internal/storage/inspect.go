package storage

import "context"

// Finding is something that a store would meet if it were to serve now.
type Finding struct {
	Text    string // says what, in one line and without secrets
	Warning bool   // the store would keep its promises all the same
}

// Inspect returns what would keep the store that url names from its promises, or could. It writes
// nothing, and makes no file. ctx bounds the questions to a server, not the reading of a file.
func Inspect(ctx context.Context, url string, opts Options) []Finding {
	t, err := parseURL(url)
	if err != nil {
		return []Finding{{Text: err.Error()}}
	}
	durability, err := t.durability(opts.Durability)
	if err != nil {
		return []Finding{{Text: err.Error()}}
	}
	opts = opts.withDefaults()
	opts.Timeout = max(opts.Timeout, inspectTimeout)
	switch {
	case t.redis != nil:
		return inspectRedis(ctx, t, opts, durability)
	case t.file != "":
		return inspectFile(ctx, t, opts)
	}
	return nil
}
