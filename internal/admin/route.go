package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Route is one command or question of an operator.
type Route struct {
	Pattern string   // as [http.ServeMux] has it: "POST /v1/reload"
	Query   []string // parameters that it reads; a request with another one is refused
	Asks    bool     // it changes nothing, whatever its method, and is no order; its pattern is a path
	// Serve answers with a value for JSON, or an error: a [Fault] as it is, any other with 500. ctx ends
	// with the request.
	Serve func(ctx context.Context, r *http.Request) (any, error)
}

// File is a value that is told as it is, and not as JSON.
type File struct {
	Type string // of its content
	Body []byte
}

// Fault is why an operator's request was not done. As JSON it is {"error": {…}}.
type Fault struct {
	Status  int    `json:"-"`       // of HTTP
	Code    string `json:"code"`    // for programs: "not_found", "faulty_file", …
	Message string `json:"message"` // for people; without secrets
	Details any    `json:"details,omitempty"`
}

func (f *Fault) Error() string { return f.Message }

// NotFound is the fault of a name that nothing has.
func NotFound(message string) *Fault {
	return &Fault{Status: http.StatusNotFound, Code: "not_found", Message: message}
}

type faulted struct {
	Error *Fault `json:"error"`
}

// maxRequest bounds the body of an operator's request, in bytes.
const maxRequest = 1 << 20

// commands serve routes. What changes something must not be a request that a web page can have a
// browser send to loopback: it is of the page's own origin or of none, and is marked as JSON.
func commands(mux *http.ServeMux, routes []Route) {
	origins := http.NewCrossOriginProtection()
	origins.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeFault(w, &Fault{Status: http.StatusForbidden, Code: "cross_origin", Message: "pages of other origins give no orders here"})
	}))
	for _, route := range routes {
		mux.Handle(route.Pattern, origins.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet && r.Method != http.MethodHead && !isJSON(r) {
				writeFault(w, &Fault{Status: http.StatusUnsupportedMediaType, Code: "not_json", Message: "Content-Type must be application/json"})
				return
			}
			if fault := unread(r, route.Query); fault != nil {
				writeFault(w, fault)
				return
			}
			r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
			value, err := route.Serve(r.Context(), r)
			if err != nil {
				writeFault(w, asFault(err))
				return
			}
			if file, is := value.(File); is {
				writeFile(w, file)
				return
			}
			writeJSON(w, http.StatusOK, value)
		})))
	}
}

// unread refuses a query with a parameter that is not among those that are read, or that is given twice:
// whoever asks for less than everything must not be told everything.
func unread(r *http.Request, reads []string) *Fault {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return &Fault{Status: http.StatusBadRequest, Code: "bad_request", Message: "the query is malformed: " + err.Error()}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch {
		case !slices.Contains(reads, name):
			message := fmt.Sprintf("there is no parameter %q here", name)
			if len(reads) > 0 {
				message += ", but " + strings.Join(reads, ", ")
			}
			return &Fault{Status: http.StatusBadRequest, Code: "bad_request", Message: message}
		case len(query[name]) > 1:
			return &Fault{Status: http.StatusBadRequest, Code: "bad_request", Message: fmt.Sprintf("the parameter %q stands there twice", name)}
		}
	}
	return nil
}

func isJSON(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "application/json"
}

func asFault(err error) *Fault {
	if fault, ok := errors.AsType[*Fault](err); ok {
		return fault
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &Fault{Status: http.StatusRequestEntityTooLarge, Code: "too_large", Message: err.Error()}
	}
	return &Fault{Status: http.StatusInternalServerError, Code: "failed", Message: err.Error()}
}

func writeFault(w http.ResponseWriter, fault *Fault) { writeJSON(w, fault.Status, faulted{fault}) }

func writeFile(w http.ResponseWriter, file File) {
	h := w.Header()
	h.Set("Content-Type", file.Type)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(file.Body)
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":{"code":"failed","message":"the answer cannot be written as JSON"}}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}
