package sticky

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// decode reads what encode writes, and by json whatever else says the same: another version may know more of a binding,
// or write it otherwise.
func decode(data []byte) (Binding, error) {
	text := string(data) // in one piece: what is read of it are its parts
	if b, ok := read(text); ok {
		return b, nil
	}
	var s stored
	if err := json.Unmarshal(data, &s); err != nil {
		return Binding{}, fmt.Errorf("sticky: stored binding: %w", err)
	}
	if s.Format != format || s.Upstream == "" {
		return Binding{}, fmt.Errorf("sticky: stored binding of format %d", s.Format)
	}
	return s.Binding, nil
}

// read reads what encode wrote without escapes: its fields, in their order.
func read(text string) (b Binding, ok bool) {
	r := reader{rest: text, ok: true}
	r.skip(`{"v":1,"up":`)
	b.Upstream = r.string()
	r.optional(`,"principal":`, &b.Principal)
	r.optional(`,"session":`, &b.Session)
	r.optional(`,"dialect":`, &b.Dialect)
	r.optional(`,"version":`, &b.Version)
	r.optional(`,"tasks":`, &b.Tasks)
	r.optional(`,"declares":`, &b.Declares)
	r.optional(`,"status":`, &b.Status)
	r.skip(`,"expires":`)
	b.Expires = r.time()
	r.optional(`,"alias":`, &b.Alias)
	if r.has(`,"kept":`) {
		b.Kept = r.time()
	}
	b.Fixed = r.has(`,"fixed":true`)
	r.optional(`,"maker":`, &b.Maker)
	r.optional(`,"id":`, &b.ID)
	r.optional(`,"tool":`, &b.Tool)
	r.number(`,"made":`, &b.Made)
	r.optional(`,"origin":`, &b.Origin)
	r.number(`,"until":`, &b.Until)
	r.optional(`,"former":`, &b.Former)
	r.optional(`,"formeralias":`, &b.FormerAlias)
	b.Asked = r.has(`,"asked":true`)
	return b, r.ok && r.rest == "}" && b.Upstream != ""
}

// reader takes JSON apart that encode wrote.
type reader struct {
	rest string
	ok   bool // so far
}

func (r *reader) has(text string) (has bool) {
	r.rest, has = strings.CutPrefix(r.rest, text)
	return has
}

func (r *reader) skip(text string) { r.ok = r.has(text) && r.ok }

func (r *reader) string() string {
	if !r.has(`"`) {
		r.ok = false
		return ""
	}
	for i := range len(r.rest) {
		switch c := r.rest[i]; {
		case c == '"':
			value := r.rest[:i]
			r.rest = r.rest[i+1:]
			return value
		case !isPlain[c]:
			r.ok = false
			return ""
		}
	}
	r.ok = false
	return ""
}

func (r *reader) optional(name string, value *string) {
	if r.has(name) {
		*value = r.string()
	}
}

func (r *reader) number(name string, value *int64) {
	if !r.has(name) {
		return
	}
	end := 0
	for end < len(r.rest) && (r.rest[end] == '-' || '0' <= r.rest[end] && r.rest[end] <= '9') {
		end++
	}
	n, err := strconv.ParseInt(r.rest[:end], 10, 64)
	if digits := strings.TrimPrefix(r.rest[:end], "-"); err != nil || digits[0] == '0' {
		r.ok = false // zero is left out, and no number of JSON begins with it
	}
	r.rest, *value = r.rest[end:], n
}

func (r *reader) time() (t time.Time) {
	at := r.string()
	if err := t.UnmarshalText([]byte(at)); err != nil {
		r.ok = false
	}
	return t
}
