package head

import "net/url"

// target is the request target that was parsed last. Most clients ask for one alone.
type target struct {
	text    string
	connect bool
	parsed  url.URL
	lent    url.URL // parsed, for whoever reads the request
}

// parse reads a target as net/http does. An authority that it names must be one, without a user.
func (t *target) parse(method, text string) (*url.URL, error) {
	connect := method == "CONNECT" && !isPath(text)
	if text != t.text || connect != t.connect {
		parsed, err := parseTarget(connect, text)
		if err != nil {
			return nil, err
		}
		t.text, t.connect, t.parsed = text, connect, *parsed
	}
	t.lent = t.parsed
	return &t.lent, nil
}

func parseTarget(connect bool, text string) (*url.URL, error) {
	whole := text
	if connect {
		whole = "http://" + text
	}
	parsed, err := url.ParseRequestURI(whole)
	if err != nil {
		return nil, errTarget
	}
	if !isPath(text) && (connect || text != "*") && (parsed.Host == "" || parsed.User != nil) {
		return nil, errTarget
	}
	if connect {
		parsed.Scheme = ""
	}
	return parsed, nil
}
