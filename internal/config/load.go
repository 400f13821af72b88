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
	for _, f := range decode(tree, &cfg) {
		if !covered(f.Key, variables.faults) {
			unread = append(unread, f)
		}
	}
	before := cfg.Validate()
	for _, apply := range flags {
		apply(&cfg)
	}
	faults := Faults(slices.Clone(unread))
	for _, f := range cfg.Validate() {
		if !covered(f.Key, unread) {
			faults = append(faults, f)
		}
	}
	lines := findLines(string(data))
	if len(faults) == 0 {
		return cfg, &Source{lines: lines, inserted: variables.keys}, nil
	}
	fromFile := slices.Concat(unread, before)
	for i, f := range faults {
		if slices.Contains(fromFile, f) {
			faults[i].File, faults[i].Line = name, lines.of(f.Key)
		}
	}
	variables.silence(faults)
	slices.SortStableFunc(faults, func(a, b Fault) int { return a.Line - b.Line })
	return Config{}, nil, faults
}

// covered reports whether key, or a table around it, could not be read: its default is no news.
func covered(key string, unread []Fault) bool {
	return slices.ContainsFunc(unread, func(f Fault) bool { return isWithin(key, f.Key) })
}

// isWithin reports whether key is table, or stands in it.
func isWithin(key, table string) bool {
	rest, ok := strings.CutPrefix(key, table)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
