package config

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

func fieldNames(table reflect.Type) []string {
	names := make([]string, table.NumField())
	for i := range names {
		names[i] = table.Field(i).Tag.Get("toml")
	}
	return names
}

func isTable(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[Prefix]() && t != reflect.TypeFor[Pace]()
}

func defaultOf[T any]() (table T) {
	setDefaults(reflect.ValueOf(&table).Elem())
	return table
}

// setDefaults panics at a tag that does not fit its field.
func setDefaults(table reflect.Value) {
	for i := range table.NumField() {
		if isTable(table.Field(i).Type()) {
			setDefaults(table.Field(i))
		} else if text, ok := table.Type().Field(i).Tag.Lookup("default"); ok {
			setText(table.Field(i), text)
		}
	}
}

// setText reads a value as a tag has it, in which blanks part the elements of a list.
func setText(into reflect.Value, text string) {
	var err error
	read, isText := into.Addr().Interface().(encoding.TextUnmarshaler)
	switch {
	case isText:
		err = read.UnmarshalText([]byte(text))
	case into.Kind() == reflect.Slice:
		elements := strings.Fields(text)
		into.Set(reflect.MakeSlice(into.Type(), len(elements), len(elements)))
		for i, element := range elements {
			setText(into.Index(i), element)
		}
	case into.Kind() == reflect.Map: // a table without keys
		into.Set(reflect.MakeMap(into.Type()))
	case into.Kind() == reflect.Int:
		var n int64
		n, err = strconv.ParseInt(text, 10, 64)
		into.SetInt(n)
	case into.Kind() == reflect.Bool:
		into.SetBool(text == "true")
	default:
		into.SetString(text)
	}
	if err != nil {
		panic(fmt.Sprintf("config: the tag %q of a %v: %v", text, into.Type(), err))
	}
}

func (v *validator) bounds(key string, table reflect.Value) {
	for i, name := range fieldNames(table.Type()) {
		field, tag, at := table.Field(i), table.Type().Field(i).Tag, joinKey(key, name)
		if isTable(field.Type()) {
			v.bounds(at, field)
		}
		if bounds, ok := tag.Lookup("within"); ok {
			v.within(at, field, bounds)
		}
		allowed := strings.Fields(tag.Get("oneof"))
		switch {
		case len(allowed) == 0:
		case field.Kind() == reflect.Slice:
			for i := range field.Len() {
				v.oneOf(elementKey(at, i), field.Index(i).String(), allowed...)
			}
		default:
			v.oneOf(at, field.String(), allowed...)
		}
	}
}

func (v *validator) within(key string, value reflect.Value, bounds string) {
	low, high := reflect.New(value.Type()).Elem(), reflect.New(value.Type()).Elem()
	least, most, _ := strings.Cut(bounds, " ")
	setText(low, least)
	setText(high, most)
	v.faultIf(value.Int() < low.Int() || value.Int() > high.Int(), key, "must be from %v to %v, got %v", low, high, value)
}
