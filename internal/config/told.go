package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
)

// Key is one key of a configuration, as it may be shown.
type Key struct {
	Key    string // its path, such as pools[0].timeouts.read
	Value  any    // a string as the file has it, a bool, an int, a list or a table of such; without secrets
	Origin string // where the value is from; see [Source]
}

// Withheld is shown in place of what is or may be a secret.
const Withheld = "(secret)"

// Keys are all keys of c, in the order of config.example.toml, with the values that are in force. What may
// bear a secret is withheld: secrets themselves, passwords and queries of URLs, values of variables that
// servers get, and the arguments of their commands.
func (c Config) Keys() []Key {
	var keys []Key
	tell("", reflect.ValueOf(c), func(key string, value any) { keys = append(keys, Key{Key: key, Value: value}) })
	return keys
}

// own are the tables and keys that berths of one deployment have each for itself.
var own = []string{"listen", "admin", "log"}

// Digest is the same for configurations that make berths interchangeable: of all keys but those that each
// berth has for itself, without secrets.
func (c Config) Digest() string {
	shared := slices.DeleteFunc(c.Keys(), func(k Key) bool {
		return slices.ContainsFunc(own, func(table string) bool { return isWithin(k.Key, table) })
	})
	text, err := json.Marshal(shared)
	if err != nil {
		panic(err) // for values that JSON does not have
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

func tell(path string, table reflect.Value, one func(key string, value any)) {
	for i, name := range fieldNames(table.Type()) {
		field, key := table.Field(i), joinKey(path, name)
		switch {
		case isTable(field.Type()):
			tell(key, field, one)
		case field.Kind() == reflect.Slice && isTable(field.Type().Elem()):
			for i := range field.Len() {
				tell(elementKey(key, i), field.Index(i), one)
			}
		case field.Kind() == reflect.Slice && name == "command" && field.Len() > 1:
			one(key, []any{field.Index(0).String(), fmt.Sprintf("(%d arguments)", field.Len()-1)})
		default:
			one(key, shown(field))
		}
	}
}

// shown is a value as the file has it.
func shown(v reflect.Value) any {
	switch value := v.Interface().(type) {
	case Secret:
		return masked(string(value))
	case fmt.Stringer:
		return value.String()
	}
	switch v.Kind() {
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = shown(v.Index(i))
		}
		return list
	case reflect.Map:
		table := map[string]any{}
		for _, name := range v.MapKeys() {
			table[name.String()] = Withheld
		}
		return table
	case reflect.String:
		return withoutSecrets(v.String())
	}
	return v.Interface()
}

func masked(secret string) string {
	if secret == "" {
		return ""
	}
	return Withheld
}

// withoutSecrets is text without what a URL may have of a secret, should one be let in that has.
func withoutSecrets(text string) string {
	if !strings.Contains(text, "://") {
		return text
	}
	u, err := url.Parse(text)
	if err != nil {
		return Withheld
	}
	if u.RawQuery != "" {
		u.RawQuery = Withheld
	}
	return u.Redacted()
}

// String is the rate as the file has it; "" of the zero value.
func (p Pace) String() string {
	if p == (Pace{}) {
		return ""
	}
	for unit, period := range paces {
		if p.Period == period {
			return fmt.Sprintf("%d/%s", p.Count, unit)
		}
	}
	return fmt.Sprintf("%d/%v", p.Count, p.Period)
}
