package discover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"
)

// list returns the EndpointSlices as they are now, page by page.
func (a *kubeAPI) list(ctx context.Context) (*endpoints, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	known := &endpoints{byName: map[string]endpointSlice{}}
	query := url.Values{"limit": {strconv.Itoa(kubePage)}}
	for {
		var page struct {
			Metadata kubeMeta        `json:"metadata"`
			Items    []endpointSlice `json:"items"`
		}
		body, err := a.get(ctx, query)
		if err != nil {
			return nil, err
		}
		err = json.NewDecoder(io.LimitReader(body, maxKubePage)).Decode(&page)
		body.Close()
		if err != nil {
			return nil, fmt.Errorf("reading the list: %w", err)
		}
		for _, slice := range page.Items {
			known.byName[slice.Metadata.Name] = slice
		}
		known.version = page.Metadata.ResourceVersion
		if page.Metadata.Continue == "" {
			return known, nil
		}
		query.Set("continue", page.Metadata.Continue)
	}
}

// kubeEvent is one line of a watch.
type kubeEvent struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`
}

// watch brings known up to date for as long as it lasts, and calls changed once the watch stands
// and after each change. It returns nil once a watch that stood is over, however it ended.
func (a *kubeAPI) watch(ctx context.Context, known *endpoints, lasts time.Duration, changed func()) error {
	// The server is to end it. One that does not is not waited for for ever.
	ctx, cancel := context.WithTimeout(ctx, lasts+10*time.Second)
	defer cancel()
	body, err := a.get(ctx, url.Values{
		"watch": {"1"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {known.version},
		"timeoutSeconds": {strconv.Itoa(int(lasts / time.Second))},
	})
	if err != nil {
		return err
	}
	defer body.Close()
	changed()
	limited := &io.LimitedReader{R: body}
	for decoder := json.NewDecoder(limited); ; {
		limited.N = maxKubePage
		var event kubeEvent
		if err := decoder.Decode(&event); err != nil {
			return nil // cut, or over
		}
		news, err := known.apply(event)
		if err != nil {
			return err
		}
		if news {
			changed()
		}
	}
}

// errEvent says that a watch told what berth does not understand: it is listed anew.
var errEvent = fmt.Errorf("%w, or not understood", errExpired)

// apply takes over what an event tells, and reports whether that is about an instance.
func (s *endpoints) apply(event kubeEvent) (news bool, err error) {
	if event.Type == "ERROR" {
		var status kubeStatus
		if err := json.Unmarshal(event.Object, &status); err != nil {
			return false, errEvent
		}
		return false, status.err()
	}
	var slice endpointSlice
	if err := json.Unmarshal(event.Object, &slice); err != nil || slice.Metadata.ResourceVersion == "" {
		return false, errors.Join(errEvent, err)
	}
	switch event.Type {
	case "ADDED", "MODIFIED":
		s.byName[slice.Metadata.Name] = slice
		news = true
	case "DELETED":
		delete(s.byName, slice.Metadata.Name)
		news = true
	case "BOOKMARK": // only where we are
	default:
		return false, errEvent
	}
	s.version = slice.Metadata.ResourceVersion
	return news, nil
}
