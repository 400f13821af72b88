package storagetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/storage"
)

// How many ask for a place at the same time, and how many there are.
const (
	seekers = 32
	places  = 5
)

func (c *contract) enlist() {
	c.members("l")
	for _, member := range []string{"a", "b", ""} {
		c.enlisted("l", member, long, 0)
	}
	c.members("l", "a", "b", "")
	for range 2 {
		c.delisted("l", "b")
	}
	c.members("l", "a", "")
	c.delisted("l", "a")
	c.delisted("l", "")
	c.members("l")
	c.delisted("l", "a")
	c.enlisted("l", "a", long, 1)
	c.members("l", "a")
}

// Equal lives stand in the order of arrival, however close: the names are in another.
func (c *contract) membersInOrder() {
	var forGood, hours []string
	for i := range 20 {
		forGood = append(forGood, fmt.Sprintf("good %d", (i*7)%20))
		hours = append(hours, fmt.Sprintf("hour %d", (i*7)%20))
	}
	for i := range forGood {
		c.enlisted("l", forGood[i], time.Duration(-i), 0)
		c.enlisted("l", hours[i], long, 0)
	}
	c.enlisted("l", "soon", long/2, 0)
	c.enlisted("l", "late", 2*long, 0)
	c.enlisted("l", "kept", storage.KeepTTL, 0)
	want := slices.Concat([]string{"soon"}, hours, []string{"late"}, forGood, []string{"kept"})
	c.members("l", want...)
}

func (c *contract) membersExpire() {
	c.enlisted("l", "a", long, 0)
	c.enlisted("l", "b", short, 0)
	c.enlisted("l", "c", 0, 0)
	c.enlisted("another", "b", short, 0)
	c.awaitMembers("l", "a", "c")
	c.awaitMembers("another")
	c.enlisted("l", "d", long, 3) // nobody stands in its place
	c.enlisted("l", "b", 2*long, 4)
	c.members("l", "a", "d", "b", "c")
}

// An answer may be lost after the member was made: asking again changes nothing.
func (c *contract) enlistRepeated() {
	c.enlisted("l", "a", long, 1)
	c.enlisted("l", "b", long, 2)
	for _, ttl := range []time.Duration{long, 2 * long, short, 0} {
		c.enlisted("l", "a", ttl, 1)
	}
	c.members("l", "a", "b")
	c.enlisted("brief", "a", short, 1)
	c.enlisted("brief", "a", 2*long, 1)
	c.enlisted("brief", "b", long, 0)
	if members := c.list("brief"); len(members) > 0 && members[0] == "a" { // else the machine was slow: it is gone, or was made anew
		c.awaitMembers("brief", "b")
	}
}

func (c *contract) enlistFull() {
	c.enlisted("l", "a", long, 2)
	c.enlisted("l", "b", short, 2)
	err := c.engine.AddMember(c.Context(), "l", "c", long, 1)
	if !errors.Is(err, storage.ErrFull) || errors.Is(err, storage.ErrUnavailable) {
		c.Errorf("AddMember: got %v, want ErrFull", err)
	}
	c.awaitMembers("l", "a")
	c.enlisted("l", "c", long, 2)
	if err := c.engine.AddMember(c.Context(), "l", "d", long, 2); !errors.Is(err, storage.ErrFull) {
		c.Errorf("AddMember: got %v, want ErrFull", err)
	}
	c.members("l", "a", "c")
	c.delisted("l", "a")
	c.enlisted("l", "d", long, 2)
	c.members("l", "c", "d")
}

func (c *contract) enlistRace() {
	var took atomic.Int64
	var running sync.WaitGroup
	for i := range seekers {
		running.Go(func() {
			switch err := c.engine.AddMember(c.Context(), "l", fmt.Sprint(i), long, places); {
			case err == nil:
				took.Add(1)
			case !errors.Is(err, storage.ErrFull):
				c.Errorf("AddMember: got %v, want ErrFull", err)
			}
		})
	}
	running.Wait()
	if members := c.list("l"); took.Load() != places || len(members) != places {
		c.Errorf("got %d that were told they are members and the list %q, want %d", took.Load(), members, places)
	}
}

func (c *contract) binaryMembers() {
	var all []string
	for i := range 256 {
		all = append(all, fmt.Sprintf("%c\x00\r\n%s", i, []byte{byte(i)}))
	}
	for _, member := range all {
		c.enlisted("l \x00\r\nµ", member, long, 0)
	}
	c.members("l \x00\r\nµ", all...)
}

// One name may begin another, and end with what a member of the other begins with.
func (c *contract) lists() {
	c.enlisted("l", "ist", long, 0)
	c.enlisted("li", "st", long, 0)
	c.enlisted("lis", "t", long, 0)
	c.create("k", "a", long)
	c.members("l", "ist")
	c.members("li", "st")
	c.delisted("lis", "t")
	c.members("lis")
	c.members("l", "ist")
	c.stands("k", "a", 1)
}

func (c *contract) enlisted(list, member string, ttl time.Duration, most int) {
	c.Helper()
	if err := c.engine.AddMember(c.Context(), list, member, ttl, most); err != nil {
		c.Errorf("AddMember %q in %q: %v", member, list, err)
	}
}

func (c *contract) delisted(list, member string) {
	c.Helper()
	if err := c.engine.RemoveMember(c.Context(), list, member); err != nil {
		c.Errorf("RemoveMember %q in %q: %v", member, list, err)
	}
}

func (c *contract) list(list string) []string {
	c.Helper()
	members, err := c.engine.Members(c.Context(), list)
	if err != nil {
		c.Fatalf("Members of %q: %v", list, err)
	}
	return members
}

func (c *contract) members(list string, want ...string) {
	c.Helper()
	if got := c.list(list); !slices.Equal(got, want) {
		c.Errorf("members of %q: got %q, want %q", list, got, want)
	}
}

// awaitMembers polls until list has these members, or the case's deadline ends it.
func (c *contract) awaitMembers(list string, want ...string) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), goneWithin)
	defer cancel()
	poll := time.NewTicker(short / 4)
	defer poll.Stop()
	for {
		got := c.list(list)
		if slices.Equal(got, want) {
			return
		}
		select {
		case <-ctx.Done():
			c.Fatalf("members of %q: got %q, want %q in the end", list, got, want)
		case <-poll.C:
		}
	}
}
