package command

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/internal/config"
)

// route is by which operators ask.
func (l *reloader) route() admin.Route {
	return admin.Route{Pattern: "POST " + api.ReloadPath, Serve: func(ctx context.Context, _ *http.Request) (any, error) {
		// Whoever hangs up has asked all the same.
		change, err := l.reload(context.WithoutCancel(ctx), "operator")
		if err != nil {
			return nil, asFault(err)
		}
		return api.Reloaded{File: l.file, Changed: some(change.Applied), Restart: some(change.Restart)}, nil
	}}
}

func some(keys []string) []string { return append([]string{}, keys...) }

// fileFault is a config.Fault for programs.
type fileFault struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Key     string `json:"key,omitempty"`
	Message string `json:"message"`
}

func asFault(err error) *admin.Fault {
	fault := &admin.Fault{Status: http.StatusUnprocessableEntity, Code: "faulty_file", Message: err.Error()}
	switch {
	case errors.Is(err, errNoFile):
		fault.Status, fault.Code = http.StatusConflict, "no_file"
		return fault
	case errors.Is(err, errDraining):
		fault.Status, fault.Code = http.StatusConflict, "draining"
		return fault
	}
	var all []fileFault
	for _, f := range faultsOf(err) {
		all = append(all, fileFault{f.File, f.Line, f.Key, f.Message})
	}
	fault.Details = all
	return fault
}

// hangUps are the signals by which a process is told to read its configuration anew.
func hangUps() (signals <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// watchEvery is how often a file that is watched is read. It is taken over when two readings in a row
// are the same: whoever writes it in place may be half through.
const watchEvery = time.Second

// Run reads the file anew with each signal and, where it says so, when it changes, until ctx ends. A
// disk that does not answer then is not waited for.
func (l *reloader) Run(ctx context.Context, signals <-chan os.Signal) error {
	go l.attend(ctx, signals)
	<-ctx.Done()
	l.close()
	return nil
}

func (l *reloader) attend(ctx context.Context, signals <-chan os.Signal) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	before := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
			l.reread(ctx, "SIGHUP")
		case <-tick.C:
			if before = l.look(ctx, before); before == "" {
				continue
			}
		}
	}
}

// reread is reload where nobody waits for what it tells.
func (l *reloader) reread(ctx context.Context, by string) {
	_, err := l.reload(ctx, by)
	noteReread(l.site.Deeds, by, err)
}

// look reads a file that is watched, and has it taken over if it is other than at the last attempt, and
// the same as before. It returns what it is; "" where nothing is watched.
func (l *reloader) look(ctx context.Context, before string) string {
	if l.file == "" || !l.site.Config().Watch {
		return ""
	}
	now := fileDigest(l.file)
	l.mu.Lock()
	seen := l.seen
	l.mu.Unlock()
	if now != seen && now == before {
		l.reread(ctx, "change")
	}
	return now
}

// fileDigest tells one reading of a file from another: by what it holds, wherever links lead, and not by
// its time; or by why it cannot be read.
func fileDigest(path string) string {
	if path == "" {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(f, config.MaxFile+1)); err != nil {
		return err.Error()
	}
	return string(sum.Sum(nil))
}
