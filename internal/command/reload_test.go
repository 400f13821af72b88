package command

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"

	"berth/internal/config"
)

// A file whose disk does not answer keeps nobody from going.
func TestAReadingThatHangsIsNotWaitedFor(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	synctest.Test(t, func(t *testing.T) {
		disk := make(chan struct{})
		l := &reloader{reading: reading{file: file, load: func() (config.Config, *config.Source, error) {
			<-disk
			return config.Config{}, nil, nil
		}}}
		told := make(chan error, 1)
		go func() {
			_, err := l.reload(t.Context(), "operator")
			told <- err
		}()
		synctest.Wait()
		ctx, end := context.WithCancel(t.Context())
		end()
		if err := l.Run(ctx, nil); err != nil {
			t.Error(err)
		}
		close(disk)
		if err := <-told; !errors.Is(err, errDraining) {
			t.Errorf("the reading: %v, want %v", err, errDraining)
		}
	})
}
