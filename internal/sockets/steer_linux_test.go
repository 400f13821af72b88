package sockets

import "testing"

// Before a listener goes, new connections go to the other one: not to a queue that is about to be closed.
func TestNewConnectionsGoToTheListenerThatStays(t *testing.T) {
	for _, leaves := range []int{0, 1, 2} {
		first := open(t, "127.0.0.1:0", true)
		all := []*Listener{first, open(t, first.Addr().String(), true), open(t, first.Addr().String(), true)}
		going := all[leaves]
		accepted := make(chan int)
		go func() { accepted <- acceptAll(t, going) }()
		going.steerAway()
		dial(t, first, 60)
		going.end()
		if n := <-accepted; n != 0 {
			t.Errorf("the one that goes, at place %d, was given %d connections", leaves, n)
		}
		for i, l := range all {
			if i != leaves {
				l.Close()
				acceptAll(t, l)
			}
		}
	}
}

// One that is alone has nobody to send to, and is given what comes.
func TestConnectionsStayWhereThereIsNoOther(t *testing.T) {
	l := open(t, "127.0.0.1:0", true)
	accepted := make(chan int)
	go func() { accepted <- acceptAll(t, l) }()
	l.steerAway()
	dial(t, l, 20)
	l.end()
	if n := <-accepted; n != 20 {
		t.Errorf("accepted %d, want 20", n)
	}
}

// Who joins is given his share, whoever has been sent to before.
func TestWhoJoinsIsGivenAShare(t *testing.T) {
	first := open(t, "127.0.0.1:0", true)
	if err := first.steer(0); err != nil {
		t.Fatal(err)
	}
	second := open(t, first.Addr().String(), true)
	dial(t, first, 60)
	second.end()
	if n := acceptAll(t, second); n == 0 {
		t.Error("it was given none")
	}
}
