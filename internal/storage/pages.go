package storage

import (
	"context"

	"berth/internal/storage/engine"
)

// PageMembers is how many members one operation reads where a list may be long: those of a Redis wait for it.
const PageMembers = 1000

// EachPage tells take of a list's members, at most so many, a page at a time and each once, in the engine's own order. Who comes or
// goes meanwhile may be told or not. It ends with the first error of take; others are those of Page.
func EachPage(ctx context.Context, lists engine.Lists, list string, most int, take func(some []Member) error) error {
	var told map[string]bool // once there is more than a page
	for from := ""; most > 0; {
		page, err := lists.Page(ctx, list, from, min(most, PageMembers))
		if err != nil {
			return err
		}
		from = page.Next
		if told == nil && from != "" {
			told = map[string]bool{}
		}
		some := page.Members
		if told != nil {
			some = some[:0]
			for _, member := range page.Members {
				if !told[member.Name] {
					told[member.Name] = true
					some = append(some, member)
				}
			}
		}
		most -= len(some)
		if len(some) > 0 {
			err = take(some)
		}
		if err != nil || from == "" {
			return err
		}
	}
	return nil
}
