package config

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// reference matches ${NAME} and ${NAME:-default}, and any other "${" alone. With a second "$" before
// it, it stands for itself.
var reference = regexp.MustCompile(`\$?\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\})?`)

// environment puts variables in the place of references in strings. What it put in may be a secret.
type environment struct {
	findings
	keys   map[string]inserted // whose values have something of the environment
	values map[string]bool     // that were put in
}

// inserted is what a value was before something of the environment was put into it.
type inserted struct {
	text string // as the file has it
	name string // of the first variable
}

// expand replaces in tree, a parsed file, the references in its strings. A variable that is not set
// counts as one that is empty where there is a default, and is a fault elsewhere.
func expand(tree map[string]any) *environment {
	e := &environment{keys: map[string]inserted{}, values: map[string]bool{}}
	e.table("", tree)
	return e
}

func (e *environment) table(key string, tree map[string]any) {
	for name, value := range tree {
		tree[name] = e.value(joinKey(key, name), value)
	}
}

func (e *environment) value(key string, value any) any {
	switch value := value.(type) {
	case string:
		return e.text(key, value)
	case map[string]any:
		e.table(key, value)
	case []map[string]any:
		for i, table := range value {
			e.table(elementKey(key, i), table)
		}
	case []any:
		for i, element := range value {
			value[i] = e.value(elementKey(key, i), element)
		}
	}
	return value
}

func (e *environment) text(key, text string) string {
	if !strings.Contains(text, "${") {
		return text
	}
	return reference.ReplaceAllStringFunc(text, func(found string) string {
		parts := reference.FindStringSubmatch(found)
		name, otherwise := parts[1], parts[2]
		switch {
		case strings.HasPrefix(found, "$$"):
			return found[1:]
		case name == "":
			e.fault(key, `must close what "${" begins, as in ${NAME} or ${NAME:-default}; "$${" stands for itself`)
			return found
		}
		set, ok := os.LookupEnv(name)
		if set == "" && strings.Contains(found, ":-") {
			return otherwise
		}
		e.faultIf(!ok, key, "names the environment variable %s, which is not set", name)
		if _, is := e.keys[key]; !is {
			e.keys[key] = inserted{text, name}
		}
		e.values[set] = true
		return set
	})
}

// leastSecret is how long a value is that is looked for in what others say: shorter ones are in any
// text.
const leastSecret = 4

// silence takes what came from the environment out of what faults say, however they spell it.
func (e *environment) silence(faults []Fault) {
	var secrets []*regexp.Regexp
	for _, value := range slices.Sorted(maps.Keys(e.values)) {
		if len(value) >= leastSecret {
			escaped := strings.Trim(strconv.Quote(value), `"`)
			secrets = append(secrets, regexp.MustCompile("(?i)"+regexp.QuoteMeta(value)+"|"+regexp.QuoteMeta(escaped)))
		}
	}
	for i := range faults {
		if _, is := e.keys[faults[i].Key]; is {
			faults[i].Message, _, _ = strings.Cut(faults[i].Message, ", got ")
		}
		for _, secret := range secrets {
			faults[i].Message = secret.ReplaceAllLiteralString(faults[i].Message, "…")
		}
	}
}
