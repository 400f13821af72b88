package listen

import (
	"encoding/json"
	"slices"
	"strings"

	"berth/internal/jsonobject"
	"berth/internal/jsonscan"

	"github.com/go-json-experiment/json/jsontext"
)

// Filter is what a subscription asks for, or what was agreed to, in its order (2026-07-28,
// subscriptions, "Notification Filter"). Unknown members are kept: extensions add to them.
type Filter []Wish

// Wish is one member of a Filter.
type Wish struct {
	Name string         // toolsListChanged, taskIds, …
	List []string       // of a member that is a list of strings, nil otherwise
	Raw  jsontext.Value // of any other
}

// Tasks is the member that names tasks (Tasks extension, "Task Status Notifications").
const Tasks = "taskIds"

// Parse reads a filter; nil is none: what is no object.
func Parse(raw []byte) (Filter, error) {
	if jsontext.Value(raw).Kind() != '{' {
		return nil, nil
	}
	f := Filter{}
	err := jsonobject.Each(raw, []string{Tasks}, func(name []byte, value jsontext.Value) error {
		if list, ok := textList(value); ok {
			f = append(f, Wish{Name: string(name), List: list})
		} else {
			f = append(f, Wish{Name: string(name), Raw: slices.Clone(value)})
		}
		return nil
	})
	return f, err
}

func textList(value jsontext.Value) (list []string, ok bool) {
	if value.Kind() != '[' {
		return nil, false
	}
	s, list := jsonscan.New(value), []string{}
	for s.Open('['); s.Element(); {
		if s.Kind() != '"' {
			return nil, false
		}
		own, _ := jsonobject.Text(s.Value())
		list = append(list, own)
	}
	return list, s.Err() == nil
}

// IsClear reports whether the members that the revision names are what it says: true, false or null, and a list of strings.
func (f Filter) IsClear() bool {
	return !slices.ContainsFunc(f, func(w Wish) bool {
		kind := w.Raw.Kind()
		switch {
		case !isKnown(w.Name) || w.List == nil && kind == 'n':
			return false
		case w.Name == filterUpdates || w.Name == Tasks:
			return w.List == nil
		}
		return kind != 't' && kind != 'f'
	})
}

func (w Wish) wants() bool {
	if w.List != nil {
		return len(w.List) > 0
	}
	return w.Raw.Kind() != 'f' && w.Raw.Kind() != 'n'
}

// Empty reports whether the filter is for nothing.
func (f Filter) Empty() bool { return !slices.ContainsFunc(f, Wish.wants) }

// Find returns the wish with this name, and whether there is one.
func (f Filter) Find(name string) (Wish, bool) {
	if i := f.index(name); i >= 0 {
		return f[i], true
	}
	return Wish{}, false
}

func (f Filter) index(name string) int {
	return slices.IndexFunc(f, func(w Wish) bool { return w.Name == name })
}

// TaskIDs returns the tasks that the filter names.
func (f Filter) TaskIDs() []string {
	tasks, _ := f.Find(Tasks)
	return tasks.List
}

// WithTasks returns the filter for these tasks; nil leaves the member out.
func (f Filter) WithTasks(ids []string) Filter {
	out := slices.DeleteFunc(slices.Clone(f), func(w Wish) bool { return w.Name == Tasks })
	if ids == nil {
		return out
	}
	return append(out, Wish{Name: Tasks, List: ids})
}

// Within returns what of f was asked for, in the order of asked.
func (f Filter) Within(asked Filter) Filter {
	var out Filter
	for _, want := range asked {
		got, ok := f.Find(want.Name)
		switch {
		case !ok || !want.wants() || !got.wants():
		case want.List == nil || got.List == nil:
			out = append(out, got)
		default:
			agreed := slices.DeleteFunc(slices.Clone(want.List), func(s string) bool { return !slices.Contains(got.List, s) })
			out = append(out, Wish{Name: want.Name, List: agreed})
		}
	}
	return out
}

// And returns what f or other agree to.
func (f Filter) And(other Filter) Filter {
	out := slices.Clone(f)
	for _, w := range other {
		switch i := out.index(w.Name); {
		case i < 0:
			out = append(out, w)
		case out[i].List != nil && w.List != nil:
			out[i].List = append(slices.Clone(out[i].List), w.List...)
		}
	}
	return out
}

// Sorted returns the filter in the one order that all filters for the same have.
func (f Filter) Sorted() Filter {
	out := slices.Clone(f)
	for i := range out {
		if out[i].List != nil {
			list := slices.Clone(out[i].List)
			slices.Sort(list)
			out[i].List = slices.Compact(list)
		}
	}
	slices.SortFunc(out, func(a, b Wish) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Encode returns the filter as JSON.
func (f Filter) Encode() []byte {
	out := []byte{'{'}
	for i, w := range f {
		if i > 0 {
			out = append(out, ',')
		}
		name, _ := json.Marshal(w.Name) // strings always marshal
		out = append(append(out, name...), ':')
		if w.List == nil {
			out = append(out, w.Raw...)
			continue
		}
		list, _ := json.Marshal(w.List)
		out = append(out, list...)
	}
	return append(out, '}')
}
