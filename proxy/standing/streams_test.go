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
