package discover

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// KubernetesOptions say what [NewKubernetes] watches, and how the API server is reached.
type KubernetesOptions struct {
	Service   string // whose EndpointSlices are watched
	Namespace string // in which it is; "": what NamespaceFile says
	Port      string // name or number of the port; "": the only one
	Template  URLTemplate

	API           string // URL of the API server
	TokenFile     string // bearer token, read for each request, since it is rotated; "": none
	CAFile        string // authorities of the API server, read for each list; "": the system's
	NamespaceFile string // berth's own namespace
}

// Kubernetes tells the pods behind a service, by watching its EndpointSlices (discovery.k8s.io/v1).
type Kubernetes struct {
	o    KubernetesOptions
	dial func() (*kubeAPI, error) // reads what is needed to reach the API server, and opens no connection
}

// NewKubernetes returns a source that has asked nothing yet.
func NewKubernetes(o KubernetesOptions) *Kubernetes {
	k := &Kubernetes{o: o}
	k.dial = k.newAPI
	return k
}

// String names the service.
func (k *Kubernetes) String() string {
	if k.o.Namespace == "" {
		return "kubernetes " + k.o.Service
	}
	return "kubernetes " + k.o.Namespace + "/" + k.o.Service
}

const (
	kubeRetryMin = 500 * time.Millisecond // between two requests, whatever became of the first
	kubeRetryMax = 30 * time.Second       // after failures in a row
	watchMin     = 4 * time.Minute        // how long a watch lasts, to twice as much: berths that began together do not return together
)

// errExpired says that the server has forgotten what came after the version that was asked for.
var errExpired = errors.New("the resource version is too old")

// Watch implements [Source]: it lists, watches from there on, goes on where a watch ended, and lists
// anew when the server has forgotten where that was.
func (k *Kubernetes) Watch(ctx context.Context, tell func([]Instance, error)) {
	var failing pause
	var known *endpoints // nil: to be listed
	for {
		again := kubeRetryMin
		var err error
		known, err = k.step(ctx, known, tell)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			failing.over()
		case errors.Is(err, errExpired):
			known, again = nil, failing.next(kubeRetryMin, kubeRetryMax)
		default:
			tell(nil, fmt.Errorf("asking %s for the EndpointSlices of %s: %w", k.o.API, k.o.Service, err))
			again = failing.next(kubeRetryMin, kubeRetryMax)
		}
		wait := again/2 + rand.N(again)
		if said, ok := errors.AsType[*laterError](err); ok {
			wait = max(wait, said.after+rand.N(again)) // those who were told the same do not return together
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// step lists if nothing is known, and watches once. It returns what is known then. A watch that
// broke off is no error, but for one that could not be begun.
func (k *Kubernetes) step(ctx context.Context, known *endpoints, tell func([]Instance, error)) (*endpoints, error) {
	api, err := k.dial()
	if err != nil {
		return known, err
	}
	defer api.close()
	if known == nil {
		if known, err = api.list(ctx); err != nil {
			return nil, err
		}
		k.tell(known, tell)
	}
	return known, api.watch(ctx, known, watchMin+rand.N(watchMin), func() { k.tell(known, tell) })
}

func (k *Kubernetes) tell(known *endpoints, tell func([]Instance, error)) {
	list, err := known.instances(k.o.Port, k.o.Template)
	if err != nil {
		err = fmt.Errorf("the EndpointSlices of %s: %w", k.o.Service, err)
	}
	tell(list, err)
}
