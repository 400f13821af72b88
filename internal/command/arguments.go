package command

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// flagsFirst returns a verb's arguments with what is no flag at the end: the library
// takes no flag after the first argument, and "berth probe URL --json" is how it is
// said. What follows "--" is left alone.
func flagsFirst(verbs []*cli.Command, args []string) []string {
	if len(args) < 2 {
		return args
	}
	at := slices.IndexFunc(verbs, func(v *cli.Command) bool { return v.Name == args[1] })
	if at < 0 {
		return args
	}
	flags, rest := slices.Clone(args[:2]), []string(nil)
	for i := 2; i < len(args); i++ {
		switch {
		case args[i] == "--":
			return slices.Concat(flags, args[i:i+1], rest, args[i+1:])
		case !strings.HasPrefix(args[i], "-"):
			rest = append(rest, args[i])
		case takesNext(verbs[at], args[i]) && i+1 < len(args):
			flags = append(flags, args[i], args[i+1])
			i++
		default:
			flags = append(flags, args[i])
		}
	}
	return slices.Concat(flags, rest)
}

func takesNext(verb *cli.Command, flag string) bool {
	name := strings.TrimLeft(flag, "-")
	for _, f := range verb.Flags {
		if slices.Contains(f.Names(), name) {
			_, isBool := f.(*cli.BoolFlag)
			return !isBool
		}
	}
	return false // unknown, or with its value behind an =
}
