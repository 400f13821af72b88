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
	query := url.Values{"limit": {strconv.Itoa(kubeLimit)}}
	for {
		page, err := a.page(ctx, query)
		if err != nil {
			return nil, err
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

// kubePage is a part of a list.
type kubePage struct {
	Kind     string          `json:"kind"`
	Metadata kubeMeta        `json:"metadata"`
	Items    []endpointSlice `json:"items"`
	kubeStatus
}

// page returns what the query asks for. Anything but a list would be read as one of nothing.
func (a *kubeAPI) page(ctx context.Context, query url.Values) (kubePage, error) {
	var page kubePage
	body, err := a.get(ctx, query)
	if err != nil {
		return page, err
	}
	defer body.Close()
	switch err := json.NewDecoder(io.LimitReader(body, maxKubePage)).Decode(&page); {
	case err != nil:
		return page, fmt.Errorf("reading the list: %w", err)
	case page.Kind == "Status":
		return page, page.err()
	case page.Kind != "EndpointSliceList":
		return page, fmt.Errorf("reading the list: it is of the kind %.80q", page.Kind)
	}
	return page, nil
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
	began, told := time.Now(), false
	limited := &io.LimitedReader{R: body}
	for decoder := json.NewDecoder(limited); ; told = true {
		limited.N = maxKubePage
		var event kubeEvent
		err := decoder.Decode(&event)
		switch {
		case errors.Is(err, io.EOF) && !told && time.Since(began) < watchLeast, limited.N <= 0, isGarbage(err):
			return errors.Join(errEvent, err)
		case err != nil:
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

// watchLeast is how long a watch lasts that tells nothing: one that the server ends earlier is none.
const watchLeast = time.Second

// isGarbage reports whether what was to be read is there, and no event.
func isGarbage(err error) bool {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, unfit := errors.AsType[*json.UnmarshalTypeError](err)
	return syntax || unfit
}

// errEvent says that a watch told what berth does not understand: it is listed anew.
var errEvent = fmt.Errorf("%w, or not understood", errExpired)

// apply takes over what an event tells, and reports whether that is about an instance.
func (s *endpoints) apply(event kubeEvent) (news bool, err error) {
	if event.Type == "ERROR" {
		var status kubeStatus
		if err := json.Unmarshal(event.Object, &status); err != nil || status.Code == 0 {
			return false, errors.Join(errEvent, err)
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
