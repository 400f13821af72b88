package runner

// onFreshStack runs f on a stack of its own, and waits for it. A goroutine keeps what its stack
// has once grown to for about as long as it waits, and those of held calls wait for
// minutes: what goes deep, to the store above all, is done beside them.
func onFreshStack(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		stretch(0)
		f()
	}()
	<-done
}

// stretch has the stack of a goroutine that has just begun be at once as large as it comes to anyway: one that grows on
// the way is copied each time that it doubles, frame by frame, and frames are many by then. To be called is enough: what
// the frame would be for is not done. at keeps the compiler from seeing that.
//
//go:noinline
func stretch(at int) byte {
	if at == 0 {
		return 0
	}
	var frame [4 << 10]byte
	return frame[at]
}
