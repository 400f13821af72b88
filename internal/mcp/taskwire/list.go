package taskwire

import (
	"cmp"
	"encoding/json"
	"errors"

	"berth/internal/jsonobject"
	"berth/internal/jsonscan"

	"github.com/go-json-experiment/json/jsontext"
)

// List is one page of a tasks/list (2025-11-25, "Listing Tasks").
type List struct {
	Tasks      []Listed // in the upstream's order
	NextCursor string   // "": the list ends here
}

// Listed is one task of a list.
type Listed struct {
	ID  string // taskId
	Raw []byte // the task as its upstream wrote it
}

var errNoTaskList = errors.New("mcp: not a list of tasks")

// ReadList reads the result of a tasks/list, strictly: whose a task is hangs on its id.
func ReadList(result []byte) (List, error) {
	var list List
	members, err := jsonobject.Named(result, "tasks", "nextCursor")
	if err != nil {
		return list, err
	}
	tasks, cursor := members[0], members[1]
	if tasks.Kind() != '[' || cursor != nil && cursor.Kind() != '"' && cursor.Kind() != 'n' {
		return list, errNoTaskList
	}
	list.NextCursor, _ = jsonobject.Text(cursor)
	list.Tasks, err = readListed(tasks)
	return list, err
}

func readListed(list jsontext.Value) ([]Listed, error) {
	var tasks []Listed
	s := jsonscan.New(list)
	for s.Open('['); s.Element(); {
		raw := s.Value()
		id, err := listedID(raw)
		if err != nil {
			return tasks, cmp.Or(s.Err(), err)
		}
		tasks = append(tasks, Listed{ID: id, Raw: raw})
	}
	return tasks, s.Err()
}

// listedID returns the id of a task in a list. A task without one is nobody's.
func listedID(task jsontext.Value) (id string, err error) {
	members, err := jsonobject.Named(task, "taskId")
	if err != nil {
		return "", err
	}
	if id, _ = jsonobject.Text(members[0]); id == "" {
		err = errNoTaskList
	}
	return id, err
}

// Result returns the page as the result of a tasks/list. The tasks' bytes are theirs.
func (l List) Result() []byte {
	out := []byte(`{"tasks":[`)
	for i, t := range l.Tasks {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, t.Raw...)
	}
	out = append(out, ']')
	if l.NextCursor != "" {
		cursor, _ := json.Marshal(l.NextCursor) // strings always marshal
		out = append(append(out, `,"nextCursor":`...), cursor...)
	}
	return append(out, '}')
}

// WithCursor returns a single request that Peek takes with this params.cursor, or with none for "";
// every other byte of its params stays.
func WithCursor(body []byte, cursor string) []byte {
	var value []byte
	if cursor != "" {
		value, _ = json.Marshal(cursor) // strings always marshal
	}
	params := jsonobject.Change{Name: "params", Within: jsonobject.Patch{{Name: "cursor", Value: value}}}
	if jsonobject.At(body, "params").Kind() != '{' {
		params = jsonobject.Change{Name: "params", Value: params.Within.Object()}
	}
	out, _ := jsonobject.Patch{params}.Tried(body)
	return out
}
