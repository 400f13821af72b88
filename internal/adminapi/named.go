package adminapi

import (
	"fmt"
	"strings"

	"berth/internal/admin"
	"berth/routing"
)

// checkNamed refuses a question about a pool or an upstream, either of which may be empty for any, that there is none of. One that has
// left is there as long as anything told is of it.
func checkNamed[T any](pools []*routing.Pool, named place, told []T, at func(T) place) error {
	for _, pool := range pools {
		if is(named.pool, pool.Name()) && (named.upstream == "" || pool.Find(named.upstream) != nil) {
			return nil
		}
	}
	for _, one := range told {
		if of := at(one); is(named.pool, of.pool) && is(named.upstream, of.upstream) {
			return nil
		}
	}
	return unknown(pools, named)
}

// unknown says which pools or upstreams there are.
func unknown(pools []*routing.Pool, named place) error {
	var names, upstreams []string
	has := named.pool == ""
	for _, p := range pools {
		names = append(names, p.Name())
		if is(named.pool, p.Name()) {
			has = true
			for _, u := range p.Upstreams() {
				upstreams = append(upstreams, u.Name)
			}
		}
	}
	switch {
	case !has:
		return admin.NotFound(fmt.Sprintf("there is no pool %s; %s", named.pool, thereAre(names)))
	case named.pool == "":
		return admin.NotFound(fmt.Sprintf("there is no upstream %s; %s", named.upstream, thereAre(upstreams)))
	}
	return admin.NotFound(fmt.Sprintf("there is no upstream %s/%s; in pool %s %s", named.pool, named.upstream, named.pool, thereAre(upstreams)))
}

const namesTold = 20

// thereAre lists names, not too many.
func thereAre(names []string) string {
	if len(names) == 0 {
		return "there is none"
	}
	rest := ""
	if more := len(names) - namesTold; more > 0 {
		names, rest = names[:namesTold], fmt.Sprintf(" and %d more", more)
	}
	return "there are " + strings.Join(names, ", ") + rest
}
