package config

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// fieldNames are the names of a table's keys, which are the caller's to read.
func fieldNames(table reflect.Type) []string {
	if known, ok := namesOf.Load(table); ok {
		return known.([]string)
	}
	names := make([]string, table.NumField())
	for i := range names {
		names[i] = table.Field(i).Tag.Get("toml")
	}
	namesOf.Store(table, names)
	return names
}

var namesOf, rulesOf sync.Map // by reflect.Type

// fieldRule is what the tags of a field say of its values.
type fieldRule struct {
	low, high reflect.Value // not valid: nothing
	allowed   []string      // nil: all
}

func fieldRules(table reflect.Type) []fieldRule {
	if known, ok := rulesOf.Load(table); ok {
		return known.([]fieldRule)
	}
	rules := make([]fieldRule, table.NumField())
	for i := range rules {
		field := table.Field(i)
		if bounds, ok := field.Tag.Lookup("within"); ok {
			rules[i].low, rules[i].high = reflect.New(field.Type).Elem(), reflect.New(field.Type).Elem()
			least, most, _ := strings.Cut(bounds, " ")
			setText(rules[i].low, least)
			setText(rules[i].high, most)
		}
		rules[i].allowed = strings.Fields(field.Tag.Get("oneof"))
	}
	rulesOf.Store(table, rules)
	return rules
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
	rules := fieldRules(table.Type())
	for i, name := range fieldNames(table.Type()) {
		field, rule := table.Field(i), rules[i]
		nested := isTable(field.Type())
		if !nested && !rule.low.IsValid() && len(rule.allowed) == 0 {
			continue
		}
		at := joinKey(key, name)
		if nested {
			v.bounds(at, field)
		}
		if rule.low.IsValid() && (field.Int() < rule.low.Int() || field.Int() > rule.high.Int()) {
			v.fault(at, "must be from %v to %v, got %v", rule.low, rule.high, field)
		}
		switch {
		case len(rule.allowed) == 0:
		case field.Kind() == reflect.Slice:
			for i := range field.Len() {
				v.oneOf(elementKey(at, i), field.Index(i).String(), rule.allowed...)
			}
		default:
			v.oneOf(at, field.String(), rule.allowed...)
		}
	}
}
