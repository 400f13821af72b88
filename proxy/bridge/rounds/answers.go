package rounds

import (
	"berth/internal/mcp/inquiry"
)

// GivenFor is what the body of a retry brings for what was asked, if anything.
func GivenFor(asked []Question, body []byte) ([]inquiry.Input, error) {
	given, err := inquiry.Responses(body)
	if err != nil && inquiry.HasResponses(body) {
		return nil, err
	}
	return given, Check(given, asked)
}

// Check refuses what a client has brought for questions where that is no answer to them.
func Check(given []inquiry.Input, asked []Question) error {
	for _, q := range asked {
		if value := Find(given, q.Key); value != nil {
			if err := (inquiry.Input{Key: q.Key, Value: value}).CheckResponse(q.Request); err != nil {
				return err
			}
		}
	}
	return nil
}

// Find returns what was given under a key; nil: nothing.
func Find(given []inquiry.Input, key string) []byte {
	for _, in := range given {
		if in.Key == key {
			return in.Value
		}
	}
	return nil
}
