// Package filetext reads what people have written into files: some editors put a byte order mark before it, which is no part of it.
package filetext

import (
	"bytes"
	"strings"
)

var mark = []byte("\ufeff")

// Of is what a file says, which holds content.
func Of(content []byte) []byte { return bytes.TrimPrefix(content, mark) }

// Word is Of for a file that holds one thing, without white space around it.
func Word(content []byte) string { return strings.TrimSpace(string(Of(content))) }
