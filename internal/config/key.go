package config

import (
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/xrash/smetrics"
)

// joinKey appends a name to the path of a table, so that it cannot break its line.
func joinKey(table, name string) string {
	if !isBare(name) {
		name = strconv.Quote(name)
	}
	if table == "" {
		return name
	}
	return table + "." + name
}

func elementKey(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

const maxSlips = 2

// suggest says which key may have been meant: a sibling spelt alike, or one of that name in another
// table, as happens to a top-level key below a [table].
func suggest(name string, siblings []string) string {
	const longest = 32 // The distance costs the product of both lengths.
	if len(name) > longest {
		return ""
	}
	best, slips := "", maxSlips+1
	for _, s := range siblings {
		if len(name) > len(s)+maxSlips || len(s) > len(name)+maxSlips {
			continue
		}
		if n := smetrics.WagnerFischer(strings.ToLower(name), s, 1, 1, 1); n < slips && n < len(s) {
			best, slips = s, n
		}
	}
	if best != "" {
		return ", did you mean " + best + "?"
	}
	for _, key := range allKeys() {
		if key == name {
			return ", did you mean the top-level " + name + " (above the first [table])?"
		}
		if strings.HasSuffix(key, "."+name) {
			return ", did you mean " + key + "?"
		}
	}
	return ""
}

// allKeys are the keys of a configuration, those of lists of tables as of one element.
var allKeys = sync.OnceValue(func() []string { return tableKeys("", reflect.TypeFor[Config]()) })

func tableKeys(path string, table reflect.Type) []string {
	var keys []string
	for i, name := range fieldNames(table) {
		field, key := table.Field(i).Type, joinKey(path, name)
		if field.Kind() == reflect.Slice {
			field = field.Elem()
			if isTable(field) {
				key += "[]"
			}
		}
		if isTable(field) {
			keys = append(keys, tableKeys(key, field)...)
		} else {
			keys = append(keys, key)
		}
	}
	return keys
}
