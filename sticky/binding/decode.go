package binding

import (
	"encoding/json"
	"fmt"
	"time"
)

// Decode reads what Encode writes, and by json whatever else says the same: another version may know more of a binding,
// or write it otherwise.
func Decode(data []byte) (b Binding, err error) {
	_, _, err = DecodeInto(data, new(Key), &b)
	return b, err
}

// DecodeInto is Decode into what the caller has, which also returns the binding packed as under key, if it fits. With
// an error into stays as it is.
func DecodeInto(data []byte, key *Key, into *Binding) (k Packed, fits bool, err error) {
	var t reading
	if t.read(data) {
		if k, fits = t.pack(key); fits {
			k.Fill(into)
			into.Expires, into.Kept = t.expires, t.kept // in the zones that they are told in
			return k, true, nil
		}
	}
	var s stored
	if err := json.Unmarshal(data, &s); err != nil {
		return Packed{}, false, fmt.Errorf("sticky: stored binding: %w", err)
	}
	if s.Format != format || s.Upstream == "" {
		return Packed{}, false, fmt.Errorf("sticky: stored binding of format %d", s.Format)
	}
	*into = s.Binding
	k, fits = Pack(key, into)
	return k, fits, nil
}

// reading is a binding as it was read: its texts are parts of what was read.
type reading struct {
	texts         [packedTexts][]byte // in the order of Binding.texts
	fixed, asked  bool
	expires, kept time.Time
	made, until   int64
}

func (t *reading) pack(key *Key) (Packed, bool) {
	k := Packed{fixed: t.fixed, asked: t.asked, expires: instantOf(t.expires), kept: instantOf(t.kept), made: t.made, until: t.until}
	fits := pack(&k, key, &t.texts)
	return k, fits
}

// read reads what Encode wrote without escapes: its fields, in their order. It reports false of anything else.
func (t *reading) read(text []byte) bool {
	r := reader{rest: text, ok: true}
	r.skip(`{"v":1,"up":`)
	t.texts[0] = r.string()
	r.optional(`,"principal":`, &t.texts[1])
	r.optional(`,"session":`, &t.texts[2])
	r.optional(`,"dialect":`, &t.texts[3])
	r.optional(`,"version":`, &t.texts[4])
	r.optional(`,"tasks":`, &t.texts[5])
	r.optional(`,"declares":`, &t.texts[6])
	r.optional(`,"status":`, &t.texts[7])
	r.skip(`,"expires":`)
	t.expires = r.time()
	r.optional(`,"alias":`, &t.texts[8])
	if r.has(`,"kept":`) {
		t.kept = r.time()
	}
	t.fixed = r.has(`,"fixed":true`)
	r.optional(`,"maker":`, &t.texts[9])
	r.optional(`,"id":`, &t.texts[10])
	r.optional(`,"tool":`, &t.texts[11])
	r.number(`,"made":`, &t.made)
	r.optional(`,"origin":`, &t.texts[12])
	r.number(`,"until":`, &t.until)
	r.optional(`,"former":`, &t.texts[13])
	r.optional(`,"formeralias":`, &t.texts[14])
	t.asked = r.has(`,"asked":true`)
	return r.ok && string(r.rest) == "}" && len(t.texts[0]) > 0
}

// reader takes JSON apart that Encode wrote.
type reader struct {
	rest []byte
	ok   bool // so far
}

// has passes over text, if that is what follows. Most fields are not there, which their first letter tells.
func (r *reader) has(text string) bool {
	if len(r.rest) < len(text) || r.rest[letter] != text[letter] || string(r.rest[:len(text)]) != text {
		return false
	}
	r.rest = r.rest[len(text):]
	return true
}

// letter is where a name begins, behind a comma and a quote.
const letter = 2

func (r *reader) skip(text string) { r.ok = r.has(text) && r.ok }

func (r *reader) string() []byte {
	if len(r.rest) == 0 || r.rest[0] != '"' {
		r.ok = false
		return nil
	}
	text := r.rest[1:]
	end := 0
	for end < len(text) && isPlain[text[end]] {
		end++
	}
	if end == len(text) || text[end] != '"' {
		r.ok = false
		return nil
	}
	r.rest = text[end+1:]
	return text[:end]
}

func (r *reader) optional(name string, value *[]byte) {
	if r.has(name) {
		*value = r.string()
	}
}

func (r *reader) number(name string, value *int64) {
	if !r.has(name) {
		return
	}
	text, sign, n := r.rest, int64(1), int64(0)
	if len(text) > 0 && text[0] == '-' {
		text, sign = text[1:], -1
	}
	end := 0
	for end < len(text) && text[end]-'0' <= 9 {
		n = n*10 + int64(text[end]-'0')
		end++
	}
	if end == 0 || end > sureDigits || text[0] == '0' {
		r.ok = false // zero is left out, and no number of JSON begins with it
	}
	r.rest, *value = text[end:], sign*n
}

// sureDigits are so many that an int64 has them all, whatever they are.
const sureDigits = 18

func (r *reader) time() (t time.Time) {
	if err := t.UnmarshalText(r.string()); err != nil {
		r.ok = false
	}
	return t
}
