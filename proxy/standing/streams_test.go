package standing

import "testing"

func TestStreamsStandUntilTheyEnd(t *testing.T) {
	var all Streams
	one := all.Begin(What{Pool: "p", Kind: Listen, Tasks: 2})
	other := all.Begin(What{Pool: "p", Kind: Session})
	one.Hears("a", "b")
	one.Sent()
	if len(all.All()) != 2 || one.ID == other.ID || len(one.Legs()) != 2 || one.Events() != 1 || len(other.Legs()) != 0 {
		t.Errorf("got %v: %+v, %+v", all.All(), one, other)
	}
	if other.Hears(); other.Legs() == nil {
		t.Error("the upstreams of a stream that stands at none are no list")
	}
	other.End()
	if got := all.All(); len(got) != 1 || got[0] != one {
		t.Errorf("got %v after one has ended", got)
	}
}

func TestWhatIsNoStreamCountsNothing(t *testing.T) {
	var none *Stream
	none.Hears("a")
	none.Sent()
	none.End()
}

// Draining ends the streams that stand, and those that are begun later; one that is over, or says nothing, is left alone.
func TestDrainEndsStreamsThatSayHow(t *testing.T) {
	var all Streams
	ended := make(chan string, 4)
	early, over, silent := all.Begin(What{}), all.Begin(What{}), all.Begin(What{})
	early.EndBy(func() { ended <- "early" })
	over.EndBy(func() { ended <- "over" })
	over.End()
	all.Drain()
	if got := <-ended; got != "early" {
		t.Errorf("%s was ended, want early", got)
	}
	silent.End()
	all.Begin(What{}).EndBy(func() { ended <- "late" })
	if got := <-ended; got != "late" {
		t.Errorf("%s was ended, want late", got)
	}
}
