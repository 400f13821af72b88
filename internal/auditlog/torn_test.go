//go:build unix

package auditlog

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"
)

// A line of which a full disk took a part stands whole in the file that comes in the place of the first.
func TestALineIsNotTornBetweenTwoFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, path, _ := open(t)
		l.say(1)
		time.Sleep(time.Second)
		synctest.Wait()
		stands, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		room := realtest.FillDisk(t, uint64(stands.Size())+10)
		l.say(2)
		l.say(3)
		time.Sleep(time.Second)
		synctest.Wait()
		if err := os.Rename(path, path+".1"); err != nil {
			t.Fatal(err)
		}
		room()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		l.Close()
		if got := said(t, path); got != "2 3" {
			t.Errorf("got %s, want 2 3", got)
		}
	})
}
