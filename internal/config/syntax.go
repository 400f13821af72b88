package config

import (
	"errors"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"
)

// repeated matches what the TOML library's messages may repeat of a value: runs
// in quotes, and words with a digit.
var repeated = regexp.MustCompile(`'[^']*'|"(?:[^"\\]|\\.)*"|\S*[0-9]\S*`)

// withhold drops a repeated run unless it is too short to be a value: the one
// character that was not expected.
func withhold(run string) string {
	const longest = len(`'\n'`)
	if len(run) <= longest {
		return run
	}
	return "…"
}

// syntaxFault turns the TOML library's error into a fault. Its messages repeat
// the text they stumble over, and an admin token without quotes around it is
// such a text: everything that may be one is left out. Names of keys stay.
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
