package discover

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
)

// listed is one element of a file's list.
type listed struct {
	Name    string `json:"name"`    // "": the host and port of what follows
	URL     string `json:"url"`     // the whole endpoint, or
	Address string `json:"address"` // its host:port, for the scheme and path of the configuration
	Weight  *int   `json:"weight"`
	Backup  bool   `json:"backup"`
	Drain   bool   `json:"drain"`
	Era     string `json:"era"`
}

// maxWeight is the largest weight, as the configuration has it.
const maxWeight = 256

// Parse reads a JSON list of instances: objects with url or address, and name, weight, backup,
// drain and era if need be. Anything else in it is an error, so that a slip is not taken for an
// instance that left.
func Parse(content []byte, template URLTemplate) ([]Instance, error) {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	var entries []listed
	if err := decoder.Decode(&entries); err != nil {
		return nil, located(content, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there must be nothing behind the list")
	}
	if entries == nil {
		return nil, errors.New("must be a list, got null")
	}
	list := make([]Instance, len(entries))
	names, urls := map[string]int{}, map[string]int{}
	for i, e := range entries {
		instance, err := e.instance(template)
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		if first, ok := names[instance.Name]; ok {
			return nil, fmt.Errorf("[%d]: %q is the name of [%d] already", i, instance.Name, first)
		}
		if first, ok := urls[Spot(instance.URL)]; ok {
			return nil, fmt.Errorf("[%d]: the URL is that of [%d] already: one instance has one name", i, first)
		}
		names[instance.Name], urls[Spot(instance.URL)] = i, i
		list[i] = instance
	}
	slices.SortFunc(list, byName)
	return list, nil
}

// located adds the line to an error of the decoder's, if that knows it.
func located(content []byte, err error) error {
	at := int64(-1)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = syntax.Offset
	} else if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		at = kind.Offset
	} else if errors.Is(err, io.ErrUnexpectedEOF) {
		at = int64(len(content))
	}
	if at < 0 || at > int64(len(content)) {
		return err
	}
	return fmt.Errorf("line %d: %w", 1+bytes.Count(content[:at], []byte("\n")), err)
}

func (e listed) instance(template URLTemplate) (Instance, error) {
	i := Instance{Name: e.Name, Draining: e.Drain, Backup: e.Backup, Era: e.Era}
	var err error
	if i.URL, err = e.endpoint(template); err != nil {
		return i, err
	}
	if i.Name == "" {
		i.Name = HostPort(i.URL)
	}
	if e.Weight != nil {
		if i.Weight = *e.Weight; i.Weight < 1 || i.Weight > maxWeight {
			return i, fmt.Errorf("weight must be from 1 to %d, got %d", maxWeight, i.Weight)
		}
	}
	if !slices.Contains([]string{"", "auto", "modern", "legacy"}, e.Era) {
		return i, fmt.Errorf("era must be auto, modern or legacy, got %.20q", e.Era)
	}
	return i, checkName(i.Name)
}

func (e listed) endpoint(template URLTemplate) (*url.URL, error) {
	if (e.URL == "") == (e.Address == "") {
		return nil, errors.New("one of url and address must be set")
	}
	if e.Address != "" {
		if _, _, err := net.SplitHostPort(e.Address); err != nil {
			return nil, fmt.Errorf("address must be host:port, got %.80q", e.Address)
		}
		u := template.At(strings.ToLower(e.Address))
		return u, checkURL(u)
	}
	u, err := url.Parse(e.URL)
	if err != nil {
		return nil, errors.New("url must be a URL, such as http://127.0.0.1:7101/mcp")
	}
	u.Host = strings.ToLower(u.Host)
	return u, checkURL(u)
}
