package goals

import (
	"fmt"
	"strings"
)

// Table is verdicts as a table in Markdown.
func Table(verdicts []Verdict) string {
	var b strings.Builder
	b.WriteString("| work | what | goal | measured | met |\n| --- | --- | ---: | ---: | --- |\n")
	for _, v := range verdicts {
		met := "**no**"
		if v.Met() {
			met = "yes"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", v.work(), v.What, v.bound(), v.measured(), met)
	}
	return b.String()
}

// Wants reports whether a goal is about a contender at a kind of work.
func Wants(kind, contender string) bool {
	for _, g := range All() {
		for _, name := range g.Contenders {
			if g.Kind == kind && name == contender {
				return true
			}
		}
	}
	return false
}
