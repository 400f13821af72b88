package binding

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
)

// Encode is what json.Marshal makes of stored{format, b}, which berths of all versions read: written by hand, for it is
// part of each creation. What needs escapes, as few names do, is left to json.
func (b *Binding) Encode() []byte {
	var room [UsualSize]byte // stays on the stack: nothing that is called here keeps it
	return bytes.Clone(b.EncodeInto(room[:0]))
}

// UsualSize is room for most bindings as Encode writes them.
const UsualSize = 512

// EncodeInto is Encode, in room if it fits.
func (b *Binding) EncodeInto(room []byte) []byte {
	w := written{append(room, `{"v":1`...), true}
	w = w.always(`,"up":"`, b.Upstream)
	w = w.string(`,"principal":"`, b.Principal)
	w = w.string(`,"session":"`, b.Session)
	w = w.string(`,"dialect":"`, b.Dialect)
	w = w.string(`,"version":"`, b.Version)
	w = w.string(`,"tasks":"`, b.Tasks)
	w = w.string(`,"declares":"`, b.Declares)
	w = w.string(`,"status":"`, b.Status)
	w = w.time(`,"expires":"`, b.Expires)
	w = w.string(`,"alias":"`, b.Alias)
	if !b.Kept.IsZero() {
		w = w.time(`,"kept":"`, b.Kept)
	}
	w = w.flag(`,"fixed":true`, b.Fixed)
	w = w.string(`,"maker":"`, b.Maker)
	w = w.string(`,"id":"`, b.ID)
	w = w.string(`,"tool":"`, b.Tool)
	w = w.number(`,"made":`, b.Made)
	w = w.string(`,"origin":"`, b.Origin)
	w = w.number(`,"until":`, b.Until)
	w = w.string(`,"former":"`, b.Former)
	w = w.string(`,"formeralias":"`, b.FormerAlias)
	w = w.flag(`,"asked":true`, b.Asked)
	if !w.plain {
		// Strings and a time within the years of the common era always marshal.
		data, _ := json.Marshal(stored{format, *b})
		return data
	}
	return append(w.text, '}')
}

// written are members of an object, plain as long as json writes all of them as they are. It is handed on and no pointer to it, which
// would have its room escape.
type written struct {
	text  []byte
	plain bool
}

func (w written) string(name, value string) written {
	if value == "" {
		return w
	}
	return w.always(name, value)
}

func (w written) always(name, value string) written {
	for i := range len(value) {
		w.plain = w.plain && isPlain[value[i]]
	}
	w.text = append(append(append(w.text, name...), value...), '"')
	return w
}

// time writes t as json does. One that has no form in RFC 3339 is not plain.
func (w written) time(name string, t time.Time) written {
	text, err := t.AppendText(append(w.text, name...))
	w.text, w.plain = append(text, '"'), w.plain && err == nil
	return w
}

func (w written) number(name string, value int64) written {
	if value != 0 {
		w.text = strconv.AppendInt(append(w.text, name...), value, 10)
	}
	return w
}

func (w written) flag(flag string, set bool) written {
	if set {
		w.text = append(w.text, flag...)
	}
	return w
}

// isPlain tells of each byte whether json writes it as it is, whatever stands beside it.
var isPlain = func() (plain [256]bool) {
	for c := ' '; c < 0x7f; c++ {
		plain[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
	}
	return plain
}()
