package file

import (
	"os"
	"testing"

	"berth/internal/realtest"
)

func TestMain(m *testing.M) { os.Exit(realtest.RunInMemory(m)) }
