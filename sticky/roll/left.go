package roll

import (
	"context"
	"slices"
	"time"

	"berth/internal/storage"
	"berth/sticky/binding"
)

// Left is one thing that an upstream owns.
type Left struct {
	Kind    binding.Kind
	Name    string // of its binding; it tells nothing of the id
	Binding binding.Binding
	Expires time.Time // when it may be forgotten
}

const readAtOnce = 128 // bindings

// Each tells of what a list has, at most so many, those first that are forgotten first, some at a time; and how many there
// are. Of more than storage.PageMembers it is the store that orders them. What the list holds for no reason is left out, and struck off: what was bound, or unbound, meanwhile may be told or not. It ends with the
// first error of take; others wrap storage.ErrUnavailable or are ctx's.
func (c *Census) Each(ctx context.Context, list Key, most int, take func(some []Left) error) (all int, err error) {
	listing, err := c.store.Listing(ctx, list.List(), min(most, storage.PageMembers))
	if err != nil {
		return 0, err
	}
	all = listing.Size
	each := func(page []storage.Member) error {
		for members := range slices.Chunk(page, readAtOnce) {
			some, err := c.leftOf(ctx, list, members)
			if err != nil {
				return err
			}
			all -= len(members) - len(some)
			if err := take(some); err != nil {
				return err
			}
		}
		return nil
	}
	if most <= storage.PageMembers || all <= storage.PageMembers {
		err = each(listing.Members)
	} else {
		err = storage.EachPage(ctx, c.store, list.List(), most, each)
	}
	if err != nil {
		return 0, err
	}
	return all, nil
}

// leftOf reads the bindings of members, and leaves those out of which there is none that says the same, and
// has not been for a while.
func (c *Census) leftOf(ctx context.Context, list Key, members []storage.Member) (left []Left, err error) {
	names := make([]string, len(members))
	for i, member := range members {
		names[i] = member.Name
	}
	records, err := storage.GetSome(ctx, c.store, names)
	if err != nil {
		return nil, err
	}
	for i, member := range members {
		one := Left{Kind: list.Kind, Name: member.Name, Expires: time.Now().Add(member.Left)}
		if c.fits(list, &one, records[i]) || !c.missing.again(list, member.Name) {
			left = append(left, one)
			continue
		}
		if err := c.store.RemoveMember(ctx, list.List(), member.Name); err != nil {
			return nil, err
		}
		c.missing.found(list, member.Name)
	}
	return left, nil
}

// fits reports whether the record of a member says what its list does.
func (c *Census) fits(list Key, one *Left, record storage.Record) bool {
	if record.Version == 0 {
		return false
	}
	var err error
	if one.Binding, err = binding.Decode(record.Value); err != nil { // it may be of a newer berth
		return true
	}
	one.Expires = one.Binding.Forgotten()
	if one.Binding.Upstream != list.Upstream || one.Binding.EndedCounting() {
		return false
	}
	c.missing.found(list, one.Name)
	return true
}
