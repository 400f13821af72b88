package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A signal ends a check that a file keeps waiting, whichever it is. Where it does not, this test hangs.
func TestACheckIsGivenUpByASignal(t *testing.T) {
	for _, online := range []bool{false, true} {
		slow := filepath.Join(t.TempDir(), "slow")
		if err := syscall.Mkfifo(slow, 0o600); err != nil {
			t.Skip("there are no pipes with names:", err)
		}
		args := []string{"berth", "check", slow}
		if online {
			args[2] = filepath.Join(t.TempDir(), "config.toml")
			text := fmt.Sprintf("tls = { cert = %q, key = %q }\n[[pools]]\n[[pools.upstreams]]\nurl = \"http://127.0.0.1:9/mcp\"", slow, slow)
			if err := os.WriteFile(args[2], []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, "--online")
		}
		ctx, signal := context.WithCancel(t.Context())
		ended := make(chan int, 1)
		var told strings.Builder
		go func() { ended <- Run(ctx, args, io.Discard, &told) }()
		writer, err := os.OpenFile(slow, os.O_WRONLY, 0) // once it is waited for
		if err != nil {
			t.Fatal(err)
		}
		signal()
		if code := <-ended; code != 1 || strings.TrimSpace(told.String()) != errGivenUp.Error() {
			t.Errorf("online: %t: got %d, %q", online, code, told.String())
		}
		writer.Close()
	}
}
