//go:build linux

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"berth/integration/bench/goals"
	"berth/integration/bench/report"
)

// page is where the results stand, from berth's module.
const page = "docs/dev/performance.md"

// A block is a part of the page that the benchmark writes. It stands there between two comments that bear its name.
type block struct {
	name, text string
}

// blocksOf are what is told of a run.
func blocksOf(run report.Run) []block {
	return []block{
		{"how", run.How + "\n"},
		{"goals", goals.Table(goals.Judge(run.Rows))},
		{"costs", report.Table(run.Rows)},
	}
}

// tell prints blocks, and writes them into the page if it is to be written.
func (o options) tell(blocks []block) error {
	for _, b := range blocks {
		fmt.Println(b.text)
	}
	if !o.update {
		return nil
	}
	text, err := written(blocks)
	if err != nil {
		return err
	}
	return os.WriteFile(page, []byte(text), 0o644)
}

// hasPlaces says before a run, which takes long, whether the page that is to be written has a place for all.
func (o options) hasPlaces() error {
	if !o.update {
		return nil
	}
	_, err := written(slices.Concat(blocksOf(report.Run{}), profileBlocks("", nil, nil), countBlocks("", nil, nil)))
	return err
}

// written is the page with the blocks in their places.
func written(blocks []block) (string, error) {
	text, err := os.ReadFile(page)
	if err != nil {
		return "", err
	}
	all := string(text)
	for _, b := range blocks {
		if all, err = b.into(all); err != nil {
			return "", fmt.Errorf("bench: %s: %w", page, err)
		}
	}
	return all, nil
}

// into exchanges what stands in text under the block's name.
func (b block) into(text string) (string, error) {
	begin, end := "<!-- bench: "+b.name+" -->\n", "<!-- bench: end of "+b.name+" -->"
	before, rest, found := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("no place for %s, between %s and %s", b.name, strings.TrimSpace(begin), end)
	}
	return before + begin + "\n" + b.text + "\n" + end + after, nil
}
