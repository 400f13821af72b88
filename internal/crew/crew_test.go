package crew

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
)

func TestAllAreRunAtOnceHoweverManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Crew
		for range 3 {
			const all = 2 * most
			let := make(chan struct{})
			var begun, over sync.WaitGroup
			begun.Add(all)
			over.Add(all)
			for range all {
				c.Run(func() {
					begun.Done()
					<-let
					over.Done()
				})
			}
			begun.Wait() // nobody waits for another one's end
			close(let)
			over.Wait()
			synctest.Wait()
			if n := len(c.idle); n != most {
				t.Errorf("%d are idle, want %d", n, most)
			}
		}
		c.dismiss()
	})
}

func TestWhoWasIdleRunsTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Crew
		ran := 0
		f := func() { ran++ }
		run := func() {
			c.Run(f)
			synctest.Wait()
		}
		if n := testing.AllocsPerRun(100, run); n > 0 {
			t.Errorf("%v allocations", n)
		}
		if n := len(c.idle); n != 1 || ran != 101 {
			t.Errorf("%d are idle after %d functions, want 1 after 101", n, ran)
		}
		c.dismiss()
	})
}

// dismiss has those who are idle go.
func (c *Crew) dismiss() {
	for h := c.rouse(); h != nil; h = c.rouse() {
		h.next <- runtime.Goexit
	}
}
