package config

import (
	"errors"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"
)

// repeated matches what the library's messages may repeat of a value: quoted runs, words with a
// digit.
var repeated = regexp.MustCompile(`'[^']*'|"(?:[^"\\]|\\.)*"|\S*[0-9]\S*`)

// withhold keeps a run that is too short to be a value: the character that was not expected.
func withhold(run string) string {
	const longest = len(`'\n'`)
	if len(run) <= longest {
		return run
	}
	return "…"
}

// syntaxFault turns the TOML library's error into a fault. Its messages repeat the text they
// stumble over, which may be a token without quotes: that is left out, and names of keys stay.
func syntaxFault(name string, err error) Fault {
	fault := Fault{File: name, Message: "is not TOML"}
	parse, ok := errors.AsType[toml.ParseError](err)
	if !ok {
		return fault
	}
	message := parse.Message
	if !strings.HasPrefix(message, "Key '") {
		message = repeated.ReplaceAllStringFunc(message, withhold)
	}
	fault.Line = parse.Position.Line
	fault.Message += ": " + strings.Map(printable, message)
	return fault
}

// printable replaces what could break a line or drive a terminal.
func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return '?'
	}
	return r
}
