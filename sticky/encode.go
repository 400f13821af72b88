package sticky

import (
	"encoding/json"
	"strconv"
	"time"
)

// encode is what json.Marshal makes of stored{format, b}, which berths of all versions read: written by hand, for it is
// part of each creation. What needs escapes, as few names do, is left to json.
func (b *Binding) encode() string {
	if !b.isPlain() {
		// Strings and a time within the years of the common era always marshal.
		data, _ := json.Marshal(stored{format, *b})
		return string(data)
	}
	var room [512]byte // stays on the stack: nothing that is called here keeps it
	text := append(room[:0], `{"v":1,"up":"`...)
	text = append(append(text, b.Upstream...), '"')
	text = withText(text, `,"principal":"`, b.Principal)
	text = withText(text, `,"session":"`, b.Session)
	text = withText(text, `,"dialect":"`, b.Dialect)
	text = withText(text, `,"version":"`, b.Version)
	text = withText(text, `,"tasks":"`, b.Tasks)
	text = withText(text, `,"declares":"`, b.Declares)
	text = withText(text, `,"status":"`, b.Status)
	text = withTime(text, `,"expires":"`, b.Expires)
	text = withText(text, `,"alias":"`, b.Alias)
	if !b.Kept.IsZero() {
		text = withTime(text, `,"kept":"`, b.Kept)
	}
	text = withFlag(text, `,"fixed":true`, b.Fixed)
	text = withText(text, `,"maker":"`, b.Maker)
	text = withText(text, `,"id":"`, b.ID)
	text = withText(text, `,"tool":"`, b.Tool)
	text = withNumber(text, `,"made":`, b.Made)
	text = withText(text, `,"origin":"`, b.Origin)
	text = withNumber(text, `,"until":`, b.Until)
	text = withText(text, `,"former":"`, b.Former)
	text = withText(text, `,"formeralias":"`, b.FormerAlias)
	text = withFlag(text, `,"asked":true`, b.Asked)
	return string(append(text, '}'))
}

func withText(text []byte, name, value string) []byte {
	if value == "" {
		return text
	}
	return append(append(append(text, name...), value...), '"')
}

func withTime(text []byte, name string, t time.Time) []byte {
	return append(t.AppendFormat(append(text, name...), time.RFC3339Nano), '"')
}

func withNumber(text []byte, name string, value int64) []byte {
	if value == 0 {
		return text
	}
	return strconv.AppendInt(append(text, name...), value, 10)
}

func withFlag(text []byte, flag string, set bool) []byte {
	if !set {
		return text
	}
	return append(text, flag...)
}

// isPlain reports whether json writes all of b as it is.
func (b *Binding) isPlain() bool {
	for _, value := range [...]string{
		b.Upstream, b.Principal, b.Session, b.Dialect, b.Version, b.Tasks, b.Declares, b.Status, b.Alias, b.Maker, b.ID, b.Tool, b.Origin,
		b.Former, b.FormerAlias,
	} {
		for i := range len(value) {
			if !isPlain[value[i]] {
				return false
			}
		}
	}
	return isPlainTime(b.Expires) && (b.Kept.IsZero() || isPlainTime(b.Kept))
}

// isPlainTime: others have no form in RFC 3339.
func isPlainTime(t time.Time) bool {
	_, offset := t.Zone()
	year := t.Year()
	return year >= 1 && year <= 9999 && offset%60 == 0
}

// isPlain tells of each byte whether json writes it as it is, whatever stands beside it.
var isPlain = func() (plain [256]bool) {
	for c := ' '; c < 0x7f; c++ {
		plain[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
	}
	return plain
}()
