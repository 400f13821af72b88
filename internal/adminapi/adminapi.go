package adminapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"berth/internal/admin"
	"berth/internal/drain"
	"berth/internal/trouble"
	"berth/routing"
)

// Options are what an API tells of. None may be nil, but where that is said.
type Options struct {
	Pools    func() []*routing.Pool // of the newest generation
	Drains   *drain.Watch           // says what may stop
	Reopens  func(pool string) bool // sessions of the pool can be opened anew elsewhere
	Troubles *trouble.Book          // what went wrong at this berth; nil: nobody keeps that

	Work     Work
	Payloads func() bool // what tasks bear may be told; nil: it may not
}

// API answers operators. Make it with [New].
type API struct {
	o Options

	taskSnapshot    snapshot[taskList]
	sessionSnapshot snapshot[sessionList]
}

// New returns an API; it starts nothing.
func New(o Options) *API {
	a := &API{o: o}
	a.taskSnapshot.read, a.sessionSnapshot.read = a.readTasks, a.readSessions
	return a
}

// Routes are all of it.
func (a *API) Routes() []admin.Route {
	return slices.Concat(a.upstreamRoutes(), a.troubleRoutes(), a.workRoutes())
}

// read reads the body of an order.
func read(r *http.Request, order any) error {
	if err := json.NewDecoder(r.Body).Decode(order); err != nil {
		return badRequest("the body is no JSON object: " + err.Error())
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

func badRequest(message string) *admin.Fault {
	return &admin.Fault{Status: http.StatusBadRequest, Code: "bad_request", Message: message}
}
