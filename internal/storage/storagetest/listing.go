package storagetest

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"berth/internal/storage"
)

// A member that stands gets another life, longer or shorter, and another place.
func (c *contract) kept() {
	c.keeps("l", "a", long)
	c.keeps("l", "b", 2*long)
	c.members("l", "a", "b")
	c.keeps("l", "a", 3*long)
	c.members("l", "b", "a")
	c.keeps("l", "a", long/2)
	c.members("l", "a", "b")
	c.keeps("l", "a", 0)
	c.keeps("l", "c", storage.KeepTTL)
	c.members("l", "b", "a", "c")
	c.enlisted("l", "b", short, 0) // it stands already
	c.keeps("l", "b", short)
	c.keeps("l", "a", long)
	c.delisted("l", "c")
	c.awaitMembers("l", "a")
	c.keeps("l", "b", long) // it has expired
	c.members("l", "a", "b")
}

func (c *contract) listing() {
	if got := c.listed("l", 10); got.Size != 0 || got.Last != 0 || len(got.Members) != 0 {
		c.Errorf("an empty list: got %+v", got)
	}
	c.keeps("l", "late", 2*long)
	c.keeps("l", "soon", long)
	c.enlisted("l", "good", 0, 0)
	got := c.listed("l", 2)
	if got.Size != 3 || len(got.Members) != 2 || got.Members[0].Name != "soon" || got.Members[1].Name != "late" {
		c.Fatalf("got %+v, want 3, soon and late", got)
	}
	c.lives("soon", got.Members[0].Left, long)
	c.lives("late", got.Members[1].Left, 2*long)
	c.lives("the last one", got.Last, 2*long)
	got = c.listed("l", 3)
	if len(got.Members) != 3 || got.Members[2] != (storage.Member{Name: "good"}) {
		c.Errorf("got %+v, want good, which lives for good, at the end", got)
	}
	if got = c.listed("l", 0); got.Size != 3 || len(got.Members) != 0 {
		c.Errorf("none are asked for: got %+v", got)
	}
}

func (c *contract) listingExpires() {
	c.keeps("l", "a", short)
	c.keeps("l", "b", long)
	c.awaitMembers("l", "b")
	if got := c.listed("l", 5); got.Size != 1 || len(got.Members) != 1 || got.Members[0].Name != "b" {
		c.Errorf("got %+v, want b alone", got)
	}
	c.keeps("l", "b", short)
	c.awaitMembers("l")
	if got := c.listed("l", 5); got.Size != 0 || got.Last != 0 {
		c.Errorf("all have expired: got %+v", got)
	}
}

func (c *contract) keptRace() {
	var running sync.WaitGroup
	for i := range seekers {
		running.Go(func() { c.keeps("l", fmt.Sprint(i%places), long+time.Duration(i)*time.Second) })
	}
	running.Wait()
	if got := c.listed("l", seekers); got.Size != places || len(got.Members) != places {
		c.Errorf("got %+v, want %d", got, places)
	}
}

// pages: expired ones are told on none, those with one expiry each once.
func (c *contract) pages() {
	if got := c.page("l", "", 3); len(got.Members) != 0 || got.Next != "" {
		c.Errorf("of an empty list: got %+v", got)
	}
	want := map[string]bool{}
	for i := range 10 {
		for name, ttl := range map[string]time.Duration{"good": 0, "hour": long, "later": long + time.Duration(i)*time.Minute} {
			name = fmt.Sprint(name, " ", (i*7)%10)
			c.enlisted("l", name, ttl, 0)
			want[name] = true
		}
	}
	c.enlisted("l", "", long, 0)
	want[""] = true
	c.enlisted("la", "another's", long, 0)
	standing := c.list("l")
	c.enlisted("l", "gone", short, 0)
	c.awaitMembers("l", standing...)
	for most := range 35 {
		c.pagesTell("l", most+1, want)
	}
	if got := c.page("l", "no place", 40); len(got.Members) != len(want) {
		c.Errorf("from what is no place: got %d, want %d", len(got.Members), len(want))
	}
}

func (c *contract) pagesTell(list string, most int, want map[string]bool) {
	c.Helper()
	told := map[string]bool{}
	for from := ""; ; {
		page := c.page(list, from, most)
		if len(page.Members) > most || page.Next != "" && len(page.Members) < most {
			c.Fatalf("a page of %d has %d, next %q", most, len(page.Members), page.Next)
		}
		for _, m := range page.Members {
			if told[m.Name] || !want[m.Name] {
				c.Errorf("pages of %d: %q is told twice, or is none", most, m.Name)
			}
			if told[m.Name] = true; (m.Left == 0) != strings.HasPrefix(m.Name, "good") || m.Left > 2*long {
				c.Errorf("%q lives for %v", m.Name, m.Left)
			}
		}
		if from = page.Next; from == "" {
			break
		}
	}
	if len(told) != len(want) {
		c.Errorf("pages of %d tell %d, want %d", most, len(told), len(want))
	}
}

// pagesAmidChanges: whoever stands at one place is told once, whatever becomes of those where pages end.
func (c *contract) pagesAmidChanges() {
	for i := range 40 {
		c.enlisted("l", fmt.Sprintf("%02d", i), long+time.Duration(i)*time.Minute, 0)
	}
	told := map[string]int{}
	for from := ""; ; {
		page := c.page("l", from, 4)
		for _, m := range page.Members {
			told[m.Name]++
		}
		if from = page.Next; from == "" {
			break
		}
		c.delisted("l", page.Members[3].Name)
		c.keeps("l", page.Members[0].Name, long/2)
	}
	if len(told) != 40 {
		c.Errorf("told are %d, want 40", len(told))
	}
	for name, times := range told {
		if times != 1 {
			c.Errorf("%q is told %d times", name, times)
		}
	}
}

func (c *contract) page(list, from string, most int) storage.Page {
	c.Helper()
	page, err := c.engine.Page(c.Context(), list, from, most)
	if err != nil {
		c.Fatalf("Page of %q: %v", list, err)
	}
	return page
}

// lives judges a life that was given at most as long ago as a case takes.
func (c *contract) lives(who string, left, given time.Duration) {
	c.Helper()
	if left > given || left < given-goneWithin {
		c.Errorf("%s lives for %v, want nearly %v", who, left, given)
	}
}

// keptTogether: members that are written at once have lives of their own.
func (c *contract) keptTogether() {
	c.enlisted("l", "c", 3*long, 0)
	members := []storage.Member{{Name: "b", Left: 2 * long}, {Name: "never"}, {Name: "a", Left: long}, {Name: "brief", Left: short}, {Name: "b2", Left: 2 * long}}
	if err := c.engine.KeepMembers(c.Context(), "l", members...); err != nil {
		c.Errorf("KeepMembers: %v", err)
	}
	c.awaitMembers("l", "a", "b", "b2", "c", "never")
	if err := c.engine.KeepMembers(c.Context(), "l"); err != nil {
		c.Errorf("KeepMembers of none: %v", err)
	}
	c.members("none")
}

func (c *contract) keeps(list, member string, ttl time.Duration) {
	c.Helper()
	if err := c.engine.KeepMembers(c.Context(), list, storage.Member{Name: member, Left: ttl}); err != nil {
		c.Errorf("KeepMembers %q in %q: %v", member, list, err)
	}
}

func (c *contract) listed(list string, most int) storage.Listing {
	c.Helper()
	listing, err := c.engine.Listing(c.Context(), list, most)
	if err != nil {
		c.Fatalf("Listing of %q: %v", list, err)
	}
	return listing
}
