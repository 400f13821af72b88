package site

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"berth/internal/admin"
	"berth/internal/config"
	"berth/internal/discover"
	"berth/internal/reload"
)

// discoverPlan is what a pool's configuration says of its source. It asks nothing.
func discoverPlan(cfg config.Pool) (discover.Plan, error) {
	source, err := newSource(cfg.Discover)
	d := cfg.Discover
	plan := discover.Plan{Source: source, Rules: discover.Rules{
		EmptyGrace: time.Duration(d.EmptyGrace), Linger: time.Duration(d.Linger), ForgetAfter: time.Duration(d.ForgetAfter),
		Silent: time.Duration(cfg.OwnerGrace),
	}}
	d.Era, d.EmptyGrace, d.Linger, d.ForgetAfter = "", 0, 0, 0 // which no source knows of
	plan.Key = fmt.Sprintf("%#v", d)
	return plan, err
}

// newSource returns what cfg says is to be asked; nil: nothing.
func newSource(cfg config.Discover) (discover.Source, error) {
	template := discover.URLTemplate{Scheme: cfg.Scheme, Path: cfg.Path}
	switch {
	case cfg.DNS != "":
		return discover.NewDNS(discover.DNSOptions{
			Name: cfg.DNS, Resolver: cfg.Resolver, MinTTL: time.Duration(cfg.MinTTL), MaxTTL: time.Duration(cfg.MaxTTL), Template: template,
		})
	case cfg.File != "":
		return &discover.File{Path: cfg.File, Template: template}, nil
	case cfg.Kubernetes.Service != "":
		return newKubernetes(cfg.Kubernetes, template)
	}
	return nil, nil
}

// podFiles is where a pod finds what it needs to speak to its API server.
const podFiles = "/var/run/secrets/kubernetes.io/serviceaccount/"

// kubernetesKey names the table that errors of [newKubernetes] and [judgeSource] are of.
const kubernetesKey = "discover.kubernetes"

func newKubernetes(cfg config.Kubernetes, template discover.URLTemplate) (discover.Source, error) {
	o := discover.KubernetesOptions{
		Service: cfg.Service, Namespace: cfg.Namespace, Port: cfg.Port, Template: template,
		API: cfg.API, TokenFile: cfg.TokenFile, CAFile: cfg.CAFile, NamespaceFile: podFiles + "namespace",
	}
	if o.API == "" {
		host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
		if host == "" || port == "" {
			return nil, &reload.Error{Key: kubernetesKey, Err: errors.New("discover.kubernetes: berth does not run in a cluster ($KUBERNETES_SERVICE_HOST is not set), and api names no API server")}
		}
		o.API, o.TokenFile, o.CAFile = "https://"+net.JoinHostPort(host, port), podFiles+"token", podFiles+"ca.crt"
	}
	return discover.NewKubernetes(o), nil
}

// judgeSource reads what a pool's source needs of the disk, unless that is the source which is followed: one of its files that is gone
// since is told in readiness, and is no fault of what is read anew.
func (g *generation) judgeSource(pool string, cfg config.Kubernetes, plan discover.Plan) error {
	source, ok := plan.Source.(*discover.Kubernetes)
	if !ok || g.site.followed(pool) == plan.Key {
		return nil
	}
	var all []error
	for _, err := range reload.Each(source.Judge()) {
		key := kubernetesKey
		if file, ok := errors.AsType[*reload.Error](err); ok && cfg.API != "" { // else the files are the pod's own
			key += "." + file.Key
		}
		all = append(all, &reload.Error{Key: key, Err: fmt.Errorf("%s: %w", kubernetesKey, err)})
	}
	return reload.Join(all...)
}

// followed is the key of the plan that a pool goes by; "": there is none.
func (s *Site) followed(pool string) string {
	now := s.now.Load()
	if now == nil {
		return ""
	}
	for _, m := range now.assigned {
		if m.fleet.pool.Name() == pool {
			return m.membership.plan.Key
		}
	}
	return ""
}

// firstAnswers bounds how long berth waits for sources before it serves.
const firstAnswers = 2 * time.Second

// AskSources has sources asked before anything is served. What has not answered in time is
// followed all the same, and the pool is not ready until then.
func (s *Site) AskSources(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, firstAnswers)
	defer cancel()
	var asking sync.WaitGroup
	for _, f := range s.now.Load().fleets() {
		asking.Go(func() { f.members.Ask(ctx) })
	}
	asking.Wait()
}

// fleets are those of the generation's pools.
func (g *generation) fleets() (all []*fleet) {
	for _, p := range g.assigned {
		all = append(all, p.fleet)
	}
	return all
}

func (g *generation) discoverChecks() (checks []admin.Check) {
	for _, f := range g.fleets() {
		checks = append(checks, admin.Check{Name: "discover " + f.pool.Name(), Probe: f.ready})
	}
	return checks
}

// lookAtSource asks a pool's source once.
func lookAtSource(key string, cfg config.Pool) look {
	key += ".discover"
	return look{key: key, see: func(ctx context.Context) []Finding {
		source, err := newSource(cfg.Discover)
		if err != nil {
			return []Finding{fault(key, err)}
		}
		list, err := discover.First(ctx, source)
		switch {
		case err != nil:
			return []Finding{fault(key, err)}
		case len(list) == 0:
			return []Finding{{Key: key, Text: source.String() + " tells of no instance", Warning: true}}
		}
		return nil
	}}
}
