package config

import (
	"os"
	"reflect"
	"slices"
	"strings"
)

// Change is what a configuration says otherwise than the one before it. Elements of lists of tables go
// by their names: pools.main.timeouts.call.
type Change struct {
	Applied []string // keys that can be changed while berth runs; with those of files that hold other secrets than before
	Restart []string // keys whose new value counts from the next start on
}

// Follow returns what a berth that runs with c can make of next, and what is different: it is next, but
// that what a restart takes stays as in c.
func (c Config) Follow(next Config) (Config, Change) {
	var change Change
	change.table("", reflect.ValueOf(c), reflect.ValueOf(&next).Elem(), false)
	if at := slices.Index(change.Applied, "trusted_proxies"); at >= 0 && c.ProxyProtocol { // the listener goes by them
		change.Applied = slices.Delete(change.Applied, at, at+1)
		change.Restart = append(change.Restart, "trusted_proxies")
		next.TrustedProxies = c.TrustedProxies
	}
	if c.TLS.Enabled() != next.TLS.Enabled() { // the listener speaks it, or does not
		change.Applied = slices.DeleteFunc(change.Applied, func(key string) bool { return isWithin(key, "tls") })
		change.Restart = append(change.Restart, "tls.cert")
		next.TLS = c.TLS
	}
	return next, change
}

// Clashes returns what is wrong with c, which Follow has made of next: what needs a restart stays, and the rest of a file that is good as a
// whole may not go with it.
func (c Config) Clashes(next Config, change Change) []Fault {
	if len(change.Restart) == 0 {
		return nil
	}
	ofBoth := next.Validate()
	faults := slices.DeleteFunc(c.Validate(), func(f Fault) bool { return slices.Contains(ofBoth, f) })
	_, believes := c.Auth.Header()
	if believes && slices.Contains(change.Restart, "trusted_proxies") && slices.Contains(change.Applied, "auth.principal") {
		faults = append(faults, Fault{Key: "auth.principal", Message: "is believed from trusted_proxies, which are those of before"})
	}
	for i := range faults {
		faults[i].Message += "; until a restart these stay as they were: " + strings.Join(change.Restart, ", ")
	}
	return faults
}

func (c *Change) table(key string, before, next reflect.Value, restart bool) {
	for i, name := range fieldNames(before.Type()) {
		was, is, at := before.Field(i), next.Field(i), joinKey(key, name)
		kept := restart || before.Type().Field(i).Tag.Get("reload") == "restart"
		switch {
		case reflect.DeepEqual(was.Interface(), is.Interface()):
		case isTable(was.Type()):
			c.table(at, was, is, kept)
		case kept:
			c.Restart = append(c.Restart, at)
			is.Set(was)
		case was.Type() == reflect.TypeFor[[]Pool]():
			c.pools(at, was.Interface().([]Pool), is.Interface().([]Pool))
		default:
			c.Applied = append(c.Applied, at)
		}
	}
}

// pools compares pools by their names. Where only their order differs, the list has changed.
func (c *Change) pools(key string, before, next []Pool) {
	said := len(c.Applied)
	for i := range next {
		at := joinKey(key, next[i].Name)
		if was := named(before, next[i].Name); was != nil {
			c.table(at, reflect.ValueOf(*was), reflect.ValueOf(&next[i]).Elem(), false)
		} else {
			c.Applied = append(c.Applied, at)
		}
	}
	for i := range before {
		if named(next, before[i].Name) == nil {
			c.Applied = append(c.Applied, joinKey(key, before[i].Name))
		}
	}
	if len(c.Applied) == said {
		c.Applied = append(c.Applied, key)
	}
}

func named(pools []Pool, name string) *Pool {
	i := slices.IndexFunc(pools, func(p Pool) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &pools[i]
}

// FaultAt is what is wrong with a key of the file at path, beyond what Load judges: what it names cannot
// be used.
func FaultAt(path, key, message string) Fault { return FaultsAt(path)(key, message) }

// FaultsAt is [FaultAt] for many faults of one file, which is read at the call.
func FaultsAt(path string) func(key, message string) Fault {
	var lines lineMap
	if data, err := os.ReadFile(path); err == nil && len(data) <= MaxFile {
		lines = findLines(string(data))
	}
	return func(key, message string) Fault {
		return Fault{File: path, Line: lines.of(key), Key: key, Message: message}
	}
}
