package command

import (
	"io"
	"slices"
	"strings"
	"testing"
)

func TestFlagsMayComeAfterArguments(t *testing.T) {
	verbs := newApp(io.Discard, io.Discard).Commands
	for line, want := range map[string]string{
		"berth":                                  "berth",
		"berth --help":                           "berth --help",
		"berth probe":                            "berth probe",
		"berth probe U --json --tool t":          "berth probe --json --tool t U",
		"berth probe --json U --tool=t --rate 2": "berth probe --json --tool=t --rate 2 U",
		"berth probe --header -x U":              "berth probe --header -x U",
		"berth probe U --tool":                   "berth probe --tool U",
		"berth probe U --json -- --tool":         "berth probe --json -- U --tool",
		"berth probe U --unknown V":              "berth probe --unknown U V",
		"berth tasks --json show ID --pool p":    "berth tasks show --json --pool p ID",
		"berth tasks ID show":                    "berth tasks ID show",
		"berth explain - --pool p":               "berth explain --pool p -",
		"berth drain --generate-bash-completion": "berth drain --generate-bash-completion",
		"berth check FILE":                       "berth check FILE",
		"berth moor U --json":                    "berth moor U --json",

		"berth queues pause -PnQWicnomUn2yT5 --json": "berth queues pause --json -- -PnQWicnomUn2yT5",
		"berth explain --pool p -PnQWicnomUn2yT5":    "berth explain --pool p -- -PnQWicnomUn2yT5",
		"berth queues pause -json Q":                 "berth queues pause -json Q",
		"berth queues pause -jsno Q":                 "berth queues pause -jsno Q",
		"berth probe -PnQWicnomUn2yT5":               "berth probe -PnQWicnomUn2yT5",
	} {
		got := flagsFirst(verbs, strings.Fields(line))
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}
