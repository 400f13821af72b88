package command

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A document is a Markdown file that readers are given, by its path in the module.
type document struct {
	path, text string
}

// Pages lists those at the module's top and all under docs.
func pages(t *testing.T) []document {
	t.Helper()
	var all []document
	err := filepath.WalkDir(module, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(module, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch {
		case entry.IsDir() && name != "." && name != "docs" && !strings.HasPrefix(name, "docs/"):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".md"):
			return nil
		}
		text, err := os.ReadFile(file)
		all = append(all, document{name, string(text)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var (
	fence     = regexp.MustCompile("(?ms)^```.*?^```")
	heading   = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	linked    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	linkText  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	notInSlug = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// Anchors are the names by which a page's headings can be linked to, as GitHub makes them.
func anchors(text string) map[string]bool {
	found := make(map[string]bool)
	for _, match := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		plain := linkText.ReplaceAllString(match[1], "$1")
		slug := strings.ReplaceAll(notInSlug.ReplaceAllString(strings.ToLower(plain), ""), " ", "-")
		found[slug] = true
	}
	return found
}

func TestAnchorsAreThoseOfGitHub(t *testing.T) {
	got := anchors("# berth check --online\n```\n# a comment\n```\n## `[auth.jwt]`\n### See [a page](a.md), max_in_flight\n")
	for _, want := range []string{"berth-check---online", "authjwt", "see-a-page-max_in_flight"} {
		if !got[want] {
			t.Errorf("%q is missing in %v", want, got)
		}
	}
	if len(got) != 3 {
		t.Errorf("got %v, want three", got)
	}
}

// A link between pages leads to a file that is there, and to a heading that it has.
func TestLinksBetweenPagesLeadSomewhere(t *testing.T) {
	all := pages(t)
	headings := make(map[string]map[string]bool)
	for _, page := range all {
		headings[page.path] = anchors(page.text)
	}
	checked := 0
	for _, page := range all {
		for _, match := range linked.FindAllStringSubmatch(page.text, -1) {
			target, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, ":") {
				continue
			}
			checked++
			file := page.path
			if target != "" {
				file = path.Join(path.Dir(page.path), target)
			}
			if _, err := os.Stat(filepath.Join(module, file)); err != nil {
				t.Errorf("%s links to %s: %v", page.path, match[1], err)
			} else if anchor != "" && !headings[file][anchor] {
				t.Errorf("%s links to %s: no such heading", page.path, match[1])
			}
		}
	}
	if checked == 0 {
		t.Error("no page has a link")
	}
}

// A reader who begins at README comes to every page.
func TestEveryPageIsLinkedTo(t *testing.T) {
	all := make(map[string]string)
	for _, page := range pages(t) {
		all[page.path] = page.text
	}
	reached, next := map[string]bool{"README.md": true}, []string{"README.md"}
	for len(next) > 0 {
		from := next[0]
		next = next[1:]
		for _, match := range linked.FindAllStringSubmatch(all[from], -1) {
			target, _, _ := strings.Cut(match[1], "#")
			to := path.Join(path.Dir(from), target)
			if _, there := all[to]; there && !reached[to] {
				reached[to] = true
				next = append(next, to)
			}
		}
	}
	for page := range all {
		if strings.HasPrefix(page, "docs/") && !reached[page] {
			t.Errorf("no page leads from README.md to %s: give it a line in the contents", page)
		}
	}
}

// What an operator is to read is read in a quarter of an hour, one page in a minute or two.
func TestOperatorsPathIsShort(t *testing.T) {
	const page, all = 8 << 10, 60_000
	var sum int
	for _, name := range []string{
		"start", "deploy/systemd", "deploy/docker", "deploy/kubernetes", "deploy/redis", "deploy/tls",
		"run", "runbook", "metrics", "sizing", "failures",
	} {
		text, err := os.ReadFile(filepath.Join(module, "docs", name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		if sum += len(text); len(text) > page {
			t.Errorf("docs/%s.md has %d bytes, want at most %d: move what is looked up to a page of its own", name, len(text), page)
		}
	}
	if sum > all {
		t.Errorf("the pages have %d bytes, want at most %d", sum, all)
	}
}
