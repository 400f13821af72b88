package config

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// MaxFile bounds a configuration file, in bytes; more is a wrong path.
const MaxFile = 1 << 20

// Load reads the file at path over [Default] and judges the outcome. The error
// is a [Faults] if the file was read and found wanting.
//
// In its strings ${NAME} stands for a variable of the environment.
//
// Each of flags is run after the file and before the judging: flags win, can
// supply what the file lacks, and what they say wrong is reported beside the
// file's own faults, but without file and line.
func Load(path string, flags ...func(*Config)) (Config, error) {
	cfg, _, err := Read(path, flags...)
	return cfg, err
}

// Read is [Load] that tells where each key is from, too.
func Read(path string, flags ...func(*Config)) (Config, *Source, error) {
	f, err := os.Open(path)
	if err != nil {
		return Config{}, nil, fmt.Errorf("config: opening the file: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return Config{}, nil, fmt.Errorf("config: reading the file: %w", err)
	}
	return parse(path, data, flags...)
}

// Parse is [Load] for a file already read; name is what faults call it.
func Parse(name string, data []byte, flags ...func(*Config)) (Config, error) {
	cfg, _, err := parse(name, data, flags...)
	return cfg, err
}

func parse(name string, data []byte, flags ...func(*Config)) (Config, *Source, error) {
	if len(data) > MaxFile {
		return Config{}, nil, Faults{{File: name, Message: "is larger than 1 MiB"}}
	}
	if fault, found := nestingFault(name, string(data)); found {
		return Config{}, nil, Faults{fault}
	}
	var tree map[string]any
	if _, err := toml.Decode(string(data), &tree); err != nil {
		return Config{}, nil, Faults{syntaxFault(name, err)}
	}
	cfg := Default()
	variables := expand(tree)
	unread := variables.faults
	unset := keysOf(variables.faults)
	for _, f := range decode(tree, &cfg) {
		if !unset.cover(f.Key) {
			unread = append(unread, f)
		}
	}
	before := cfg.Validate()
	after := before
	if len(flags) > 0 {
		for _, apply := range flags {
			apply(&cfg)
		}
		after = cfg.Validate()
	}
	faults := Faults(slices.Clone(unread))
	unreadKeys := keysOf(unread)
	for _, f := range after {
		if !unreadKeys.cover(f.Key) {
			faults = append(faults, f)
		}
	}
	lines := findLines(string(data))
	if len(faults) == 0 {
		return cfg, &Source{lines: lines, inserted: variables.keys}, nil
	}
	fromFile := map[Fault]bool{}
	for _, f := range slices.Concat(unread, before) {
		fromFile[f] = true
	}
	for i, f := range faults {
		if fromFile[f] {
			faults[i].File, faults[i].Line = name, lines.of(f.Key)
		}
	}
	slices.SortStableFunc(faults, func(a, b Fault) int { return a.Line - b.Line })
	more := len(faults) - maxFaults
	faults = faults[:min(len(faults), maxFaults)]
	variables.silence(faults)
	if more > 0 {
		faults = append(faults, Fault{File: name, Message: fmt.Sprintf("and %d more", more)})
	}
	return Config{}, nil, faults
}

// maxFaults bounds how many faults of a file are told.
const maxFaults = 500

// keySet is of keys that are at fault.
type keySet map[string]bool

func keysOf(faults []Fault) keySet {
	keys := keySet{}
	for _, f := range faults {
		keys[f.Key] = true
	}
	return keys
}

// cover reports whether key, or a table around it, could not be read: its default is no news. Tables are told from what
// they hold as [isWithin] does.
func (s keySet) cover(key string) bool {
	if s[key] {
		return true
	}
	for at, marks := 0, 0; at < len(key) && marks < maxNesting; at++ {
		if key[at] == '.' || key[at] == '[' {
			if marks++; s[key[:at]] {
				return true
			}
		}
	}
	return false
}

// isWithin reports whether key is table, or stands in it.
func isWithin(key, table string) bool {
	rest, ok := strings.CutPrefix(key, table)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
