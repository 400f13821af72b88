package adminapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"berth/internal/admin"
	"berth/internal/storage"
)

// isAway reports whether the store could not say, in time or at all.
func isAway(err error) bool {
	return errors.Is(err, storage.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

// outages say in words what an outage of the store means for an answer.
type outages struct{ store *storage.Store }

// fault is what an operator is told of an error; nil for nil.
func (o outages) fault(err error) error {
	if !isAway(err) {
		return err
	}
	return &admin.Fault{Status: http.StatusServiceUnavailable, Code: "store_unavailable", Message: o.awayLine(err)}
}

// awayLine says that the store is away, which, since when and why. Neither its name nor why tells a secret.
func (o outages) awayLine(err error) string {
	store := o.store
	if store == nil {
		return "the store does not answer: " + reasonOf(err.Error())
	}
	health := store.Health()
	if health.Healthy {
		return "the store (" + store.String() + ") has not answered: " + reasonOf(err.Error())
	}
	return "the store does not answer (" + store.String() + ", since " + health.Since.UTC().Format(time.RFC3339) + "): " + reasonOf(health.LastError)
}

// reasonOf is what the store's words say without those that name package and sentinel.
func reasonOf(text string) string {
	return strings.TrimPrefix(text, storage.ErrUnavailable.Error()+": ")
}

// unwritten says that the store lacks what berths have made, as it takes no writes; "": it takes them.
func (o outages) unwritten() string {
	if o.store == nil {
		return ""
	}
	r := o.store.Health().Refuses
	if r.Reason == "" {
		return ""
	}
	return fmt.Sprintf("the store (%s) takes no writes (%s, since %s): what berths have bound since then is kept in their memory, and not counted",
		o.store, r.Reason, r.Since.UTC().Format(time.RFC3339))
}

// partial says what of an answer is missing because of err.
func (o outages) partial(err error) string {
	if !isAway(err) {
		return "this is what this berth knows by itself: " + err.Error()
	}
	return "this is what this berth knows by itself: " + o.awayLine(err)
}
