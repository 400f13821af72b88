package config

import (
	"maps"
	"strconv"
)

// Source is where the keys of a configuration are from: a file, the environment that the file names, and
// flags. A nil Source is that of defaults alone.
type Source struct {
	lines    lineMap             // of the file; nil: there is none
	inserted map[string]inserted // what the environment was put into
	flags    map[string]string   // by key: the flag that has set it, or what is within it
}

// Flagged returns s with flags in it, by the keys that each has set.
func (s *Source) Flagged(flags map[string]string) *Source {
	next := Source{}
	if s != nil {
		next = *s
	}
	next.flags = maps.Clone(flags)
	return &next
}

// Tell returns keys with their origins: "flag:--NAME", "env:NAME" of a variable that the file names,
// "file:LINE", or "default". What the environment gave may be a secret: the file's own text is told.
func (s *Source) Tell(keys []Key) []Key {
	told := make([]Key, len(keys))
	for i, k := range keys {
		told[i] = s.tell(k)
	}
	return told
}

func (s *Source) tell(k Key) Key {
	k.Origin = "default"
	if s == nil {
		return k
	}
	for key, flag := range s.flags {
		if isWithin(k.Key, key) {
			k.Origin = "flag:--" + flag
			return k
		}
	}
	if line, ok := s.lines[k.Key]; ok {
		k.Origin = "file:" + strconv.Itoa(line)
	}
	if from, is := s.inserted[k.Key]; is {
		k.Origin = "env:" + from.name
		if k.Value != Withheld {
			k.Value = from.text
		}
	}
	if list, is := k.Value.([]any); is {
		for i := range list {
			if from, is := s.inserted[elementKey(k.Key, i)]; is {
				k.Origin, list[i] = "env:"+from.name, from.text
			}
		}
	}
	return k
}
