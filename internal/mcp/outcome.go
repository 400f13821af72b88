package mcp

import "github.com/go-json-experiment/json/jsontext"

// ResultObject returns the raw result of a response of any length; nil if it has none,
// none that is an object, or an error beside it. It is read as PeekAnswer reads it and
// aliases message.
func ResultObject(message []byte) []byte {
	result, failure := outcome(message)
	if result.Kind() != '{' || failure != nil {
		return nil
	}
	return result
}

// ErrorObject returns the raw error of an error response; nil if it has none, or none that
// is an object. It is read as PeekAnswer reads it and aliases message.
func ErrorObject(message []byte) []byte {
	_, failure := outcome(message)
	if failure.Kind() != '{' {
		return nil
	}
	return failure
}

// outcome returns the members result and error of a response; both are nil if it is
// malformed. An error that is null is none.
func outcome(message []byte) (result, failure jsontext.Value) {
	r := answerReader{reader: read(message)}
	defer r.release()
	r.object(messageNames, func(name []byte) {
		value := r.value()
		switch {
		case string(name) == "result":
			result = value
		case string(name) == "error" && value.Kind() != 'n':
			failure = value
		}
	})
	if r.end(); r.err != nil {
		return nil, nil
	}
	return result, failure
}
