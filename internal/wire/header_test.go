package wire

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// sample has a name twice, with another between, and withholds one.
func sample() *Header {
	h := NewHeader("Mcp-Name", "a", "Origin", "", "Mcp-Name", "b", "Via", "1.1 x")
	h.Withhold("Date")
	return h
}

// says is a header as names and values in turn.
func says(h *Header) (all []string) {
	for _, f := range h.Fields() {
		all = append(all, f.Name, f.Value)
	}
	return all
}

func TestValuesOfANameKeepTheirOrder(t *testing.T) {
	h := sample()
	for name, want := range map[string][]string{"Mcp-Name": {"a", "b"}, "Origin": {""}, "Date": nil, "Etag": nil, "": nil} {
		first, n := h.First(name)
		if got := slices.Collect(h.Values(name)); !slices.Equal(got, want) || n != len(want) || h.Has(name) != (n > 0) || n > 0 && first != want[0] {
			t.Errorf("%q: got %q, %d of them, %q first, %v; want %q", name, got, n, first, h.Has(name), want)
		}
		if got := h.Join(name, ", "); got != strings.Join(want, ", ") {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	for range h.Values("Mcp-Name") {
		break // those that follow are not asked for
	}
}

func TestAHeaderIsLackingThatSaysNothing(t *testing.T) {
	h := sample()
	for name, want := range map[string]bool{"Mcp-Name": false, "Origin": true, "Date": true, "Etag": true} {
		if got := h.Lacks(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

func TestANilHeaderCanBeRead(t *testing.T) {
	var h *Header
	if h.Get("Via") != "" || h.Has("Via") || h.Settles("Via") || h.Fields() != nil || h.Withheld() != nil || h.Clone() != nil || len(h.Lists()) != 0 || h.Join("Via", ",") != "" {
		t.Errorf("got %+v", h)
	}
}

func TestFieldsStandWhereTheyWerePut(t *testing.T) {
	for name, c := range map[string]struct {
		change func(h *Header)
		want   []string
	}{
		"set":            {func(h *Header) { h.Set("Mcp-Name", "c") }, []string{"Mcp-Name", "c", "Origin", "", "Via", "1.1 x"}},
		"set, of one":    {func(h *Header) { h.Set("Origin", "c") }, []string{"Mcp-Name", "a", "Origin", "c", "Mcp-Name", "b", "Via", "1.1 x"}},
		"set anew":       {func(h *Header) { h.Set("Age", "c") }, []string{"Mcp-Name", "a", "Origin", "", "Mcp-Name", "b", "Via", "1.1 x", "Age", "c"}},
		"add":            {func(h *Header) { h.Add("Origin", "c") }, []string{"Mcp-Name", "a", "Origin", "", "Mcp-Name", "b", "Via", "1.1 x", "Origin", "c"}},
		"delete":         {func(h *Header) { h.Del("Mcp-Name") }, []string{"Origin", "", "Via", "1.1 x"}},
		"delete nothing": {func(h *Header) { h.Del("Age") }, []string{"Mcp-Name", "a", "Origin", "", "Mcp-Name", "b", "Via", "1.1 x"}},
		"drop":           {func(h *Header) { h.Drop(func(f Field) bool { return f.Value == "b" }) }, []string{"Mcp-Name", "a", "Origin", "", "Via", "1.1 x"}},
		"take":           {func(h *Header) { h.Take("Mcp-Name", NewHeader("Age", "1", "Mcp-Name", "c")) }, []string{"Origin", "", "Via", "1.1 x", "Mcp-Name", "c"}},
		"take nothing":   {func(h *Header) { h.Take("Mcp-Name", NewHeader("Age", "1")) }, []string{"Origin", "", "Via", "1.1 x"}},
		"withhold":       {func(h *Header) { h.Withhold("Mcp-Name") }, []string{"Origin", "", "Via", "1.1 x"}},
		"forget":         {func(h *Header) { h.Forget() }, nil},
	} {
		h := sample()
		c.change(h)
		if got := says(h); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// A name is withheld until it is given a value, or removed.
func TestWhatIsWithheld(t *testing.T) {
	for name, c := range map[string]struct {
		change func(h *Header)
		want   []string
	}{
		"nothing done": {func(h *Header) {}, []string{"Date"}},
		"twice":        {func(h *Header) { h.Withhold("Date") }, []string{"Date"}},
		"another":      {func(h *Header) { h.Withhold("Via") }, []string{"Date", "Via"}},
		"set":          {func(h *Header) { h.Set("Date", "1") }, nil},
		"added":        {func(h *Header) { h.Add("Date", "1") }, nil},
		"removed":      {func(h *Header) { h.Del("Date") }, nil},
		"a clone":      {func(h *Header) { *h = *h.Clone() }, []string{"Date"}},
		"forgotten":    {func(h *Header) { h.Forget() }, nil},
	} {
		h := sample()
		c.change(h)
		if got := h.Withheld(); !slices.Equal(got, c.want) || slices.ContainsFunc(got, func(name string) bool { return h.Has(name) || !h.Settles(name) }) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestSomeOfAnothersFields(t *testing.T) {
	other := NewHeader("A", "1", "Bc", "2", "Def", "3", "A", "4")
	h := NewHeader("X", "0")
	h.Withhold("Def")
	h.AppendSome(other, 1, 3)
	if got := h.Lists(); len(got) != 3 || h.Get("Bc") != "2" || h.Get("Def") != "3" || len(h.Withheld()) > 0 {
		t.Errorf("got %v", got)
	}
	if h.Set("Bc", "5"); other.Get("Bc") != "2" {
		t.Error("the other header has changed")
	}
}

func TestAClonesFieldsAreItsOwn(t *testing.T) {
	h := sample()
	clone := h.Clone()
	clone.Set("Mcp-Name", "c")
	clone.Add("Age", "1")
	clone.Withhold("Etag")
	if got := says(h); !slices.Equal(got, says(sample())) || !slices.Equal(h.Withheld(), []string{"Date"}) {
		t.Errorf("got %q, less %q", got, h.Withheld())
	}
}

func TestListsAreAHeaderByName(t *testing.T) {
	lists := map[string][]string{"Mcp-Name": {"a", "b"}, "Origin": {""}, "Via": {"1.1 x"}, "Date": nil}
	got := sample().Lists()
	if !reflect.DeepEqual(got, lists) {
		t.Errorf("got %q, want %q", got, lists)
	}
	_ = append(got["Origin"], "c")
	if !reflect.DeepEqual(got, lists) {
		t.Errorf("what was added to one list is in another: %q", got)
	}
	h := FromLists(lists)
	if want := []string{"Mcp-Name", "a", "Mcp-Name", "b", "Origin", "", "Via", "1.1 x"}; !slices.Equal(says(h), want) || !slices.Equal(h.Withheld(), []string{"Date"}) {
		t.Errorf("got %q, less %q", says(h), h.Withheld())
	}
}

// A header says at once that a name is not there; whatever was added, set, copied or taken away, it never says so wrongly.
func TestWhatIsThereIsFound(t *testing.T) {
	h := new(Header)
	var names []string
	for c := byte('A'); c <= 'Z'; c++ {
		for n := range 9 {
			names = append(names, string(c)+strings.Repeat("x", n)+string('a'+c-'A'))
		}
	}
	for i, name := range append(names, "") {
		if h.Has(name) {
			t.Errorf("%q is there before it was added", name)
		}
		if i%2 == 0 {
			h.Add(name, "v")
		} else {
			h.Set(name, "v")
		}
	}
	for _, name := range names[:len(names)/2] {
		h.Del(name)
	}
	for i, name := range append(names, "") {
		for _, h := range []*Header{h, h.Clone(), FromLists(h.Lists())} {
			if got, want := h.Get(name) == "v", i >= len(names)/2; got != want || h.Has(name) != want {
				t.Errorf("%q: found %v, want %v", name, got, want)
			}
		}
	}
	if h.Forget(); h.Has(names[len(names)-1]) {
		t.Error("what was forgotten is there")
	}
}

// A name that is asked for and is not there costs a look at every field where one that is there has its mark.
func TestNamesThatAreSeldomThereHaveOtherMarks(t *testing.T) {
	marked := map[uint64]string{}
	for _, name := range []string{
		"Accept", "Accept-Encoding", "Accept-Language", "Authorization", "Cache-Control", "Content-Length", "Content-Type", "Date",
		"Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version", "Sec-Fetch-Mode", "Server", "User-Agent",
	} {
		marked[markOf(name)] = name
	}
	for _, name := range []string{
		"Connection", "Content-Encoding", "Cookie", "Expect", "Last-Event-Id", "Mcp-Session-Id", "Origin", "Traceparent", "Trailer",
		"Transfer-Encoding", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
	} {
		if other := marked[markOf(name)]; other != "" {
			t.Errorf("%s has the mark of %s", name, other)
		}
	}
}
