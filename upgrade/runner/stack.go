package runner

// onFreshStack runs f on a stack of its own, and waits for it. A goroutine keeps what its stack
// has once grown to for about as long as it waits, and those of held calls wait for
// minutes: what goes deep, to the store above all, is done beside them.
func onFreshStack(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}
