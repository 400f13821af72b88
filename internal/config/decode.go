package config

import (
	"cmp"
	"encoding"
	"maps"
	"reflect"
	"slices"
	"strconv"
)

// decode overwrites in cfg what tree, a parsed file, names. The TOML library gives up at the first
// wrong type.
func decode(tree map[string]any, cfg *Config) []Fault {
	var d decoder
	d.table("", tree, reflect.ValueOf(cfg).Elem())
	return d.faults
}

// decoder reads values into the fields of their names, and gathers those that do not fit.
type decoder struct{ findings }

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
	case reflect.Map:
		if tree, ok := raw.(map[string]any); ok {
			d.words(key, tree, into)
			return
		}
	case reflect.Slice:
		if list, ok := listOf(raw); ok {
			d.list(key, list, into)
			return
		}
	case reflect.String, reflect.Bool:
		if got := reflect.ValueOf(raw); got.Kind() == into.Kind() {
			into.Set(got.Convert(into.Type()))
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

// words reads a table of strings whose keys are the operator's own.
func (d *decoder) words(key string, tree map[string]any, into reflect.Value) {
	into.Set(reflect.MakeMap(into.Type()))
	for name, raw := range tree {
		if text, ok := raw.(string); ok {
			into.SetMapIndex(reflect.ValueOf(name), reflect.ValueOf(text))
		} else {
			d.fault(joinKey(key, name), "must be a string, got %s", kindOf(raw))
		}
	}
}

// text reads what is written as a string. A [Size] may also be an integer; a [Duration] would lack
// its unit.
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

// list replaces the whole slice. A table in it begins with its defaults.
func (d *decoder) list(key string, list []any, into reflect.Value) {
	slice := reflect.Zero(into.Type())
	if len(list) > 0 {
		slice = reflect.MakeSlice(into.Type(), len(list), len(list))
	}
	for i, raw := range list {
		if isTable(into.Type().Elem()) {
			setDefaults(slice.Index(i))
		}
		d.value(elementKey(key, i), raw, slice.Index(i))
	}
	into.Set(slice)
}

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

func wanted(t reflect.Type) string {
	return cmp.Or(map[reflect.Kind]string{
		reflect.Struct: "a table", reflect.Map: "a table of strings", reflect.Slice: "a list", reflect.Bool: "true or false", reflect.Int: "an integer",
	}[t.Kind()], "a string")
}

// kindOf names the type of a value and not the value, which may be a secret.
func kindOf(raw any) string {
	return cmp.Or(map[reflect.Kind]string{
		reflect.String: "a string", reflect.Int64: "an integer", reflect.Float64: "a float",
		reflect.Bool: "a boolean", reflect.Struct: "a date", reflect.Map: "a table",
	}[reflect.TypeOf(raw).Kind()], "a list")
}
