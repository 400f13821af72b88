package listen

import (
	"slices"
	"strings"
)

// Members of a filter that the revision names (2026-07-28, subscriptions, "Notification Filter").
const (
	filterTools     = "toolsListChanged"
	filterPrompts   = "promptsListChanged"
	filterResources = "resourcesListChanged"
	filterUpdates   = "resourceSubscriptions"
)

var askedBy = map[string]string{
	"notifications/tools/list_changed":     filterTools,
	"notifications/prompts/list_changed":   filterPrompts,
	"notifications/resources/list_changed": filterResources,
	"notifications/resources/updated":      filterUpdates,
	"notifications/tasks":                  Tasks,
}

// Grants reports whether a subscription whose server agreed to f may be told of a resource or a task by a notification of
// this method. What berth does not know may come where a member that it does not know was agreed to.
func (f Filter) Grants(method, resource, task string) bool {
	name, known := askedBy[method]
	if !known {
		return slices.ContainsFunc(f, func(w Wish) bool { return w.wants() && !isKnown(w.Name) })
	}
	wish, ok := f.Find(name)
	switch {
	case !ok || !wish.wants():
		return false
	case name == Tasks:
		return task != "" && slices.Contains(wish.List, task)
	case name == filterUpdates:
		return slices.ContainsFunc(wish.List, func(uri string) bool { return isOrIsWithin(resource, uri) })
	}
	return true
}

func isKnown(name string) bool {
	return slices.Contains([]string{filterTools, filterPrompts, filterResources, filterUpdates, Tasks}, name)
}

// isOrIsWithin reports whether uri is the resource's or a sub-resource's, which a server may name
// in its place (2026-07-28, ResourceUpdatedNotificationParams).
func isOrIsWithin(uri, resource string) bool {
	rest, ok := strings.CutPrefix(uri, resource)
	return ok && (rest == "" || strings.HasSuffix(resource, "/") || strings.ContainsAny(rest[:1], "/?#"))
}
