package task

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"berth/internal/jsonscan"
	"berth/internal/mcp/inquiry"
)

type stored struct {
	Format int `json:"v"`
	*Task
}

func (s *stored) isKnown() bool { return (s.Format == format || s.Format == asideFormat) && s.ID != "" }

// Decode reads what Encode has written, of this version or another. Nearly all records are plain, and read by hand: one is
// read with each poll, and reflection took two thirds of what that costs.
func Decode(data []byte) (*Task, error) {
	if t := decodePlain(data); t != nil {
		return t, nil
	}
	s := stored{Task: new(Task)}
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("upgrade: stored task: %w", err)
	}
	if !s.isKnown() {
		return nil, fmt.Errorf("upgrade: stored task of format %d", s.Format)
	}
	return s.Task, nil
}

// decodePlain reads a record whose text needs no escapes, and whose members are all known here: those of a task that asks for
// nothing, and that nobody but its client is told of. nil: it is another one, or none.
func decodePlain(data []byte) *Task {
	r := reader{Scanner: jsonscan.New(data), text: string(data)}
	s := stored{Task: new(Task)}
	r.object(func(name []byte) bool {
		return r.ofRecord(&s, name) || r.ofCall(s.Task, name) || r.ofState(s.Task, name)
	})
	if !r.End() || r.odd || !s.isKnown() {
		return nil
	}
	return s.Task
}

// IsKept reports whether a JSON value may be part of a record that is to be read again: it stands in three objects and arrays there.
func IsKept(value []byte) bool {
	s := jsonscan.New(value)
	return s.Into("", 3) && s.Value() != nil
}

// reader is a record that is read by hand, as long as it is plain.
type reader struct {
	jsonscan.Scanner
	text string // all of it: what is read are parts of it
	odd  bool   // it is not plain
}

// object reads the object that comes next. member reads the value of one, unless it does not know the name.
func (r *reader) object(member func(name []byte) bool) {
	if !r.Open('{') {
		return
	}
	for {
		name, more := r.Name()
		if !more {
			return
		}
		if !r.IsPlain() || !member(name[1:len(name)-1]) {
			r.odd = true
			return
		}
	}
}

func (r *reader) ofRecord(s *stored, name []byte) bool {
	switch string(name) {
	case "v":
		s.Format = int(r.number())
	case "id":
		s.ID = r.string()
	case "terms":
		r.object(func(name []byte) bool { return r.ofTerms(&s.Terms, name) })
	default:
		return false
	}
	return true
}

// ofCall reads what was known as the task was made.
func (r *reader) ofCall(t *Task, name []byte) bool {
	switch string(name) {
	case "pool":
		t.Pool = r.string()
	case "tool":
		t.Tool = r.string()
	case "version":
		t.Version = r.string()
	case "principal":
		t.Principal = r.string()
	case "creator":
		t.Credentials = r.string()
	case "creator_named":
		t.Named = r.string()
	case "caller":
		t.Caller = r.string()
	case "size":
		t.Size = r.number()
	case "declares":
		t.Declares = inquiry.Declared(r.string())
	case "origin":
		t.Origin = r.string()
	case "created":
		t.Created = r.time()
	default:
		return false
	}
	return true
}

// ofState reads what has come of it.
func (r *reader) ofState(t *Task, name []byte) bool {
	switch string(name) {
	case "state":
		t.State = State(r.string())
	case "message":
		t.Message = r.string()
	case "updated":
		t.Updated = r.time()
	case "holder":
		t.Holder = r.string()
	case "round":
		t.Round = int(r.number())
	case "upstream":
		t.Upstream = r.string()
	case "handed":
		t.Handed = r.flag()
	case "outcome":
		t.Outcome = r.string()
	case "tool_failed":
		t.ToolFailed = r.flag()
	case "ops":
		t.Ops = r.strings()
	case "steps":
		t.Steps = Steps(r.string())
	default:
		return false
	}
	return true
}

func (r *reader) ofTerms(t *Terms, name []byte) bool {
	switch string(name) {
	case "ttl":
		t.TTL = time.Duration(r.number())
	case "poll_interval":
		t.PollInterval = time.Duration(r.number())
	case "timeout":
		t.Timeout = time.Duration(r.number())
	case "max_result":
		t.MaxResult = r.number()
	case "rerun":
		t.Rerun = r.flag()
	case "unlisted":
		t.Unlisted = r.flag()
	case "slots":
		t.Slots = int(r.number())
	case "queue":
		t.Queue = r.string()
	default:
		return false
	}
	return true
}

func (r *reader) string() string {
	value := r.Value()
	if len(value) < len(`""`) || value[0] != '"' || !r.IsPlain() {
		r.odd = true
		return ""
	}
	return r.text[r.At()-len(value)+1 : r.At()-1]
}

func (r *reader) strings() []string {
	all := make([]string, 0, KeptOps)
	if !r.Open('[') {
		return nil
	}
	for r.Element() {
		all = append(all, r.string())
	}
	return all
}

func (r *reader) number() int64 {
	value := r.Value()
	n, err := strconv.ParseInt(r.text[r.At()-len(value):r.At()], 10, 64)
	r.odd = r.odd || err != nil
	return n
}

func (r *reader) flag() bool {
	value := string(r.Value())
	r.odd = r.odd || value != "true" && value != "false"
	return value == "true"
}

func (r *reader) time() (t time.Time) {
	value := r.Value()
	r.odd = r.odd || len(value) == 0 || value[0] == 'n' || t.UnmarshalJSON(value) != nil
	return t
}
