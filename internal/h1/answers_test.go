package h1_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// answerCase is what an upstream answers one request with, and what must come of it.
type answerCase struct {
	name   string
	method string // "": any but HEAD
	raw    string
	ends   bool   // the upstream closes the connection then
	want   string // "status body"; "cut" instead of the body if it did not end well; "garbled", "broken"
	again  string // "kept": the next request goes over the same connection, "new": over another one
	source string // where the trick was published; "": nowhere, or everywhere
}

func answerCases() []answerCase {
	return slices.Concat(cleanAnswers(), statusAnswers(), framedAnswers(), lineAnswers(), moreAnswers())
}

const ok = "HTTP/1.1 200 OK\r\n"

func TestAnswersThatCouldMeanTwoThings(t *testing.T) {
	for _, b := range []back{mine, theirs} {
		for _, c := range answerCases() {
			for _, n := range []int{0, 1, 2, 3, 7} {
				if b.name == theirs.name && (n > 0 || differences[c.name] != "") {
					continue
				}
				of := []string{c.method}
				if c.method == "" {
					of = []string{"POST", "GET", "DELETE"}
				}
				for _, method := range of {
					t.Run(fmt.Sprintf("%s/%s/%s in pieces of %d", b.name, strings.ReplaceAll(c.name, "/", "_"), method, n), func(t *testing.T) {
						if n > 0 && len(c.raw) > 64<<10 {
							t.Skip("too long for small pieces")
						}
						synctest.Test(t, func(t *testing.T) { c.check(t, ask(t, b, method, inPieces(c.raw, n), c.ends)) })
					})
				}
			}
		}
	}
}

func (c answerCase) check(t *testing.T, e exchanged) {
	t.Helper()
	if got := e.brief(); got != c.want {
		t.Errorf("%s: %.300q: got %q, want %q", c.name, c.raw, got, c.want)
	}
	if e.again != c.again {
		t.Errorf("%s: %.300q: the next request %q, want %q", c.name, c.raw, e.again, c.again)
	}
}

// brief is what came of an exchange, as an answerCase has it.
func (e exchanged) brief() string {
	switch {
	case e.failure == errGarbled:
		return "garbled"
	case e.failure == errBroken:
		return "broken"
	case e.failure != "":
		return e.failure
	case !e.whole:
		return fmt.Sprintf("%d cut", e.status)
	}
	return fmt.Sprintf("%d %s", e.status, e.body)
}

const errBroken = "sent true, refused false, timed out false, starved false, garbled false"
