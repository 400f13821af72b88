package command

import (
	"slices"
	"strings"

	"berth/internal/api"
	"berth/internal/config"
)

// kept are keys of which those that need a restart are as they were before: what is in use is of then.
func kept(keys, before []config.Key, restart []string) []config.Key {
	for i, k := range keys {
		stays := func(table string) bool {
			rest, within := strings.CutPrefix(k.Key, table)
			return within && (rest == "" || rest[0] == '.' || rest[0] == '[')
		}
		at := slices.IndexFunc(before, func(b config.Key) bool { return b.Key == k.Key })
		if at >= 0 && slices.ContainsFunc(restart, stays) {
			keys[i] = before[at]
		}
	}
	return keys
}

// config is the configuration in use, as operators are told it.
func (l *reloader) config() api.Config {
	a := l.last.Load()
	told := api.Config{File: l.file, Read: a.success.UTC(), Digest: l.site.Digest(), Keys: []api.Key{}, Restart: a.restart}
	for _, k := range *l.keys.Load() {
		told.Keys = append(told.Keys, api.Key{Key: k.Key, Value: k.Value, Origin: k.Origin})
	}
	if a.err != nil {
		told.Fault = a.err.Error()
	}
	return told
}
