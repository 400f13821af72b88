package adminapi

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"berth/internal/admin"
)

// read reads the body of an order, which is one JSON object of the fields that it has; an empty one is {}.
func read(r *http.Request, order any) error {
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	err := decoder.Decode(order)
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil:
		if _, more := decoder.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more behind it")
		}
	}
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return err
	}
	if err != nil {
		return badRequest("the body is not the JSON object of this order: " + strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// number reads a parameter of the query that is a number from 0 to most.
func number(r *http.Request, name string, otherwise, most int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most {
		return 0, badRequest(name + " must be a number from 0 to " + strconv.Itoa(most))
	}
	return n, nil
}

// is reports whether value is the wanted one, or none is.
func is(wanted, value string) bool { return wanted == "" || wanted == value }

func badRequest(message string) *admin.Fault {
	return &admin.Fault{Status: http.StatusBadRequest, Code: "bad_request", Message: message}
}
