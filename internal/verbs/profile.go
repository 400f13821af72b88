package verbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"berth/internal/admin"

	"github.com/urfave/cli/v2"
)

// profile writes what a path of /debug/pprof answers to a file, which is there only once it is whole.
func (o *operator) profile(ctx context.Context, path, file string, lasts time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, lasts+10*time.Second)
	defer cancel()
	err := o.client.Read(ctx, path, func(r io.Reader) error {
		if file == "-" {
			_, err := io.Copy(o.out, r)
			return err
		}
		return writeWhole(file, r)
	})
	fault, refused := errors.AsType[*admin.Fault](err)
	_, unheard := errors.AsType[*url.Error](err)
	if errors.Is(err, admin.ErrNoBerth) && !unheard || refused && fault.Status == http.StatusNotFound {
		return cli.Exit(errors.New("no profile: a berth gives profiles with pprof = true in [admin] only"), codeFailed)
	}
	if err == nil && file != "-" {
		fmt.Fprintf(o.out, "%s: go tool pprof %s\n", file, file)
	}
	if coded, ok := errors.AsType[cli.ExitCoder](coded(err)); ok {
		return coded
	}
	return nil
}

func writeWhole(file string, r io.Reader) (err error) {
	part, err := os.CreateTemp(filepath.Dir(file), ".profile-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(part.Name())
		}
	}()
	if _, err = io.Copy(part, r); err == nil {
		err = part.Chmod(0o600) // it tells of what is in memory
	}
	if err = errors.Join(err, part.Close()); err != nil {
		return err
	}
	return os.Rename(part.Name(), file)
}
