package adminapi

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/api"
)

const (
	pageTold = 100 // of a list, unless another number is asked for
	pageMost = 1000
)

// placed is the place of a thing in a list: by when it was made, then by its pool and id.
type placed struct {
	made     time.Time
	pool, id string
}

func (p placed) compare(other placed) int {
	return cmp.Or(cmp.Compare(p.nanos(), other.nanos()), cmp.Compare(p.pool, other.pool), cmp.Compare(p.id, other.id))
}

// cursor is the place of the last thing on a page. Lists are made anew with each question: what joins or
// leaves them moves nothing else.
func (p placed) cursor() string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(p.nanos(), 36) + "\n" + p.pool + "\n" + p.id))
}

// nanos is when it was made, 0 if nobody knows.
func (p placed) nanos() int64 {
	if p.made.IsZero() {
		return 0
	}
	return p.made.UnixNano()
}

func readCursor(text string) (p placed, err error) {
	if text == "" {
		return placed{}, nil
	}
	plain, err := base64.RawURLEncoding.DecodeString(text)
	parts := strings.SplitN(string(plain), "\n", 3)
	ns, bad := strconv.ParseInt(parts[0], 36, 64)
	if err != nil || bad != nil || len(parts) < 3 {
		return placed{}, badRequest("cursor is none that was given out")
	}
	return placed{time.Unix(0, ns).UTC(), parts[1], parts[2]}, nil
}

// pageOf cuts the page that r asks for out of all that match, which stand in the order of their places.
func pageOf[T any](r *http.Request, all []*T, place func(*T) placed) (some []T, page api.Page, err error) {
	most, err := number(r, "limit", pageTold, pageMost)
	if err != nil {
		return nil, page, err
	}
	after, err := readCursor(r.URL.Query().Get("cursor"))
	if err != nil {
		return nil, page, err
	}
	most, page.Total = max(most, 1), len(all)
	if after.id != "" {
		at, found := slices.BinarySearchFunc(all, after, func(one *T, after placed) int { return place(one).compare(after) })
		if found {
			at++
		}
		all = all[at:]
	}
	if len(all) > most {
		all = all[:most]
		page.Next = place(all[most-1]).cursor()
	}
	some = make([]T, len(all))
	for i, one := range all {
		some[i] = *one
	}
	return some, page, nil
}

// inOrder puts all in the order of their places.
func inOrder[T any](all []*T, place func(*T) placed) {
	slices.SortFunc(all, func(a, b *T) int { return place(a).compare(place(b)) })
}
