package sticky

import (
	"context"
	"slices"
	"time"

	"berth/internal/storage"
)

// Left is one thing that an upstream owns.
type Left struct {
	Kind    Kind
	Name    string // of its binding; it tells nothing of the id
	Binding Binding
	Expires time.Time // when it may be forgotten
}

const readAtOnce = 128 // bindings

// each is EachLeft.
func (c *census) each(ctx context.Context, roll rollKey, most int, take func(some []Left) error) (all int, err error) {
	listing, err := c.store.Listing(ctx, roll.list(), most)
	if err != nil {
		return 0, err
	}
	all = listing.Size
	for members := range slices.Chunk(listing.Members, readAtOnce) {
		some, err := c.leftOf(ctx, roll, members)
		if err != nil {
			return 0, err
		}
		all -= len(members) - len(some)
		if err := take(some); err != nil {
			return 0, err
		}
	}
	return all, nil
}

// leftOf reads the bindings of members, and leaves those out of which there is none that says the same, and
// has not been for a while.
func (c *census) leftOf(ctx context.Context, roll rollKey, members []storage.Member) (left []Left, err error) {
	names := make([]string, len(members))
	for i, member := range members {
		names[i] = member.Name
	}
	records, err := storage.GetSome(ctx, c.store, names)
	if err != nil {
		return nil, err
	}
	for i, member := range members {
		one := Left{Kind: roll.kind, Name: member.Name, Expires: time.Now().Add(member.Left)}
		if c.fits(roll, &one, records[i]) || !c.missing.again(roll, member.Name) {
			left = append(left, one)
			continue
		}
		if err := c.store.RemoveMember(ctx, roll.list(), member.Name); err != nil {
			return nil, err
		}
		c.missing.found(roll, member.Name)
	}
	return left, nil
}

// fits reports whether the record of a member says what its list does.
func (c *census) fits(roll rollKey, one *Left, record storage.Record) bool {
	if record.Version == 0 {
		return false
	}
	var err error
	if one.Binding, err = decode(record.Value); err != nil { // it may be of a newer berth
		return true
	}
	one.Expires = one.Binding.Forgotten()
	if one.Binding.Upstream != roll.upstream || one.Binding.endedCounting() {
		return false
	}
	c.missing.found(roll, one.Name)
	return true
}
