package config

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"
)

// decoder moves a parsed file into a [Config]. The TOML library would do it too,
// but it gives up at the first value of a wrong type.
type decoder struct{ faults []Fault }

// decode overwrites in cfg what tree names and returns everything in tree that
// has no place there. The faults carry no lines.
func decode(tree map[string]any, cfg *Config) []Fault {
	var d decoder
	d.table("", tree, reflect.ValueOf(cfg).Elem())
	return d.faults
}

func (d *decoder) fault(key, format string, args ...any) {
	d.faults = append(d.faults, Fault{Key: key, Message: fmt.Sprintf(format, args...)})
}

func (d *decoder) table(key string, tree map[string]any, into reflect.Value) {
	fields := fieldNames(into.Type())
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		child := joinKey(key, name)
		if i := slices.Index(fields, name); i >= 0 {
			d.value(child, tree[name], into.Field(i))
		} else {
			d.fault(child, "unknown key%s", suggest(name, fields))
		}
	}
}

func (d *decoder) value(key string, raw any, into reflect.Value) {
	if text, ok := into.Addr().Interface().(encoding.TextUnmarshaler); ok {
		d.text(key, raw, text)
		return
	}
	switch into.Kind() {
	case reflect.Struct:
		if tree, ok := raw.(map[string]any); ok {
			d.table(key, tree, into)
			return
		}
	case reflect.Slice:
		if list, ok := listOf(raw); ok {
			d.list(key, list, into)
			return
		}
	case reflect.String, reflect.Bool:
		if v := reflect.ValueOf(raw); v.Kind() == into.Kind() {
			into.Set(v.Convert(into.Type()))
			return
		}
	case reflect.Int:
		if n, ok := raw.(int64); ok {
			into.SetInt(n)
			return
		}
	}
	d.fault(key, "must be %s, got %s", wanted(into.Type()), kindOf(raw))
}

// text reads a value that is written as a string. A [Size] may also be a plain
// integer; a [Duration] may not, for it would lack its unit.
func (d *decoder) text(key string, raw any, into encoding.TextUnmarshaler) {
	s, ok := raw.(string)
	if _, size := into.(*Size); size && !ok {
		var n int64
		n, ok = raw.(int64)
		s = strconv.FormatInt(n, 10)
	}
	if !ok {
		d.fault(key, "must be a string, got %s", kindOf(raw))
		return
	}
	if err := into.UnmarshalText([]byte(s)); err != nil {
		d.fault(key, "%v", err)
	}
}

// list replaces the whole slice: a list in the file is not added to the default.
func (d *decoder) list(key string, list []any, into reflect.Value) {
	var slice reflect.Value
	if len(list) == 0 {
		slice = reflect.Zero(into.Type())
	} else {
		slice = reflect.MakeSlice(into.Type(), len(list), len(list))
	}
	for i, raw := range list {
		element := slice.Index(i)
		switch table := element.Addr().Interface().(type) {
		case *Pool:
			*table = DefaultPool()
		case *Upgrade:
			*table = DefaultUpgrade()
		}
		d.value(elementKey(key, i), raw, element)
	}
	into.Set(slice)
}

// listOf returns the elements of both forms a list has once it is parsed.
func listOf(raw any) ([]any, bool) {
	switch list := raw.(type) {
	case []any:
		return list, true
	case []map[string]any:
		elements := make([]any, len(list))
		for i := range list {
			elements[i] = list[i]
		}
		return elements, true
	}
	return nil, false
}

// fieldNames returns the keys of a table, in the order of its fields.
func fieldNames(table reflect.Type) []string {
	names := make([]string, table.NumField())
	for i := range names {
		names[i] = table.Field(i).Tag.Get("toml")
	}
	return names
}

func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct:
		return "a table"
	case reflect.Slice:
		return "a list"
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "an integer"
	}
	return "a string"
}

// kindOf names the type of a value and not the value, which may be a secret.
func kindOf(raw any) string {
	switch raw.(type) {
	case string:
		return "a string"
	case int64:
		return "an integer"
	case float64:
		return "a float"
	case bool:
		return "a boolean"
	case time.Time:
		return "a date"
	case map[string]any:
		return "a table"
	}
	return "a list"
}
