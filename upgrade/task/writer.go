package task

import (
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"berth/internal/jsonobject"
	"berth/internal/mcp/taskwire"
)

// writer is a JSON object that is being written, to behind its last member.
type writer []byte

// usual is more than a record takes that asks for nothing, as a rule, and mostKept the largest that is kept for others.
const (
	usual    = 1 << 10
	mostKept = 16 << 10
)

// writers are for the next record.
var writers = sync.Pool{New: func() any {
	w := make(writer, 0, usual)
	return &w
}}

func (w *writer) giveBack() {
	if cap(*w) <= mostKept {
		writers.Put(w)
	}
}

// name begins a member. Names need no escapes.
func (w *writer) name(name string) { *w = w.named(name) }

// named is what was written and the beginning of a member: who goes on with it writes w once.
func (w *writer) named(name string) []byte {
	to := *w
	if to[len(to)-1] != '{' {
		to = append(to, ',')
	}
	return append(append(append(to, '"'), name...), `":`...)
}

// quotedName begins a member whose name may need some.
func (w *writer) quotedName(name string) {
	w.part()
	*w = append(jsonobject.AppendString(*w, name), ':')
}

// part parts a member from the one before.
func (w *writer) part() {
	if (*w)[len(*w)-1] != '{' {
		*w = append(*w, ',')
	}
}

func (w *writer) open(name string) {
	*w = append(w.named(name), '{')
}

func (w *writer) text(name, value string) {
	if value != "" {
		*w = jsonobject.AppendString(w.named(name), value)
	}
}

func (w *writer) number(name string, value int64) {
	if value != 0 {
		*w = strconv.AppendInt(w.named(name), value, 10)
	}
}

func (w *writer) flag(name string, value bool) {
	if value {
		*w = append(w.named(name), "true"...)
	}
}

// time writes a time as time.RFC3339Nano has it. Nearly all are a clock's, which tells milliseconds in UTC.
func (w *writer) time(name string, value time.Time) {
	if value.IsZero() {
		return
	}
	to := append(w.named(name), '"')
	if value.Location() == time.UTC && value.Nanosecond()%int(time.Millisecond) == 0 {
		*w = append(withoutZeros(taskwire.AppendMillis(to, value)), '"')
	} else {
		*w = append(value.AppendFormat(to, time.RFC3339Nano), '"')
	}
}

// withoutZeros leaves out those that end the fraction of the time that ends text.
func withoutZeros(text []byte) []byte {
	end := len(text) - len("Z")
	for text[end-1] == '0' {
		end--
	}
	if text[end-1] == '.' {
		end--
	}
	return append(text[:end], 'Z')
}

// raw writes JSON that was parsed before, byte for byte.
func (w *writer) raw(name string, value json.RawMessage) {
	if len(value) > 0 {
		*w = append(w.named(name), value...)
	}
}

// element opens an element of a list of objects, and close closes it. A function in their place that is given would have each
// writer be an allocation.
func (w *writer) element(list string, i int) {
	if i == 0 {
		w.name(list)
		*w = append(*w, '[', '{')
		return
	}
	*w = append(*w, ',', '{')
}

func (w *writer) close(last bool) {
	if *w = append(*w, '}'); last {
		*w = append(*w, ']')
	}
}

func texts[T ~string](w *writer, name string, of []T) {
	if len(of) == 0 {
		return
	}
	w.name(name)
	*w = append(*w, '[')
	for i, one := range of {
		if i > 0 {
			*w = append(*w, ',')
		}
		*w = jsonobject.AppendString(*w, string(one))
	}
	*w = append(*w, ']')
}
