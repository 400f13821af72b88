package identity

import (
	"context"
	"log/slog"
	"time"

	"berth/internal/reload"

	"github.com/go-jose/go-jose/v4"
	"go.opentelemetry.io/otel/metric"
)

// KeyFile is an issuer's keys in a file, which is read anew when it changes.
type KeyFile struct {
	current *reload.Value[*keySet]
}

// OpenKeyFile reads the file that key of the configuration names. log and meter may be nil.
func OpenKeyFile(key, path string, log *slog.Logger, meter metric.MeterProvider) (*KeyFile, error) {
	o := reload.Options{What: "jwks", Files: []reload.File{{Key: key, Path: path}}, Logger: log, Meter: meter}
	current, err := reload.Open(o, func(contents [][]byte) (*keySet, error) { return parseKeys(contents[0]) })
	if err != nil {
		return nil, err
	}
	return &KeyFile{current}, nil
}

// Find looks among the keys in use.
func (f *KeyFile) Find(_ context.Context, kid string, algorithm jose.SignatureAlgorithm) ([]*jose.JSONWebKey, error) {
	return f.current.Get().find(kid, algorithm)
}

// Renewed implements Keys: the file is read by Run alone.
func (*KeyFile) Renewed(context.Context) bool { return false }

// Run takes over changes until ctx ends. It returns nil.
func (f *KeyFile) Run(ctx context.Context) error { return f.current.Run(ctx) }

// Ready says why the file as it is cannot be used. There are always keys.
func (f *KeyFile) Ready() (ready bool, detail string) {
	since, err := f.current.Fault()
	if err == nil {
		return true, ""
	}
	return true, "changed at " + since.UTC().Format(time.TimeOnly) + "Z and cannot be used: " + err.Error()
}
