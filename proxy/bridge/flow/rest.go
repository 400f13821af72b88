package flow

// Rest has nobody read on for now, as long as the call's client is asked.
func (fl *Flow) Rest() {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	fl.rests = true
}

// breaks notes that the stream broke while it rests. It reports whether it does.
func (fl *Flow) breaks() bool {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	fl.broke = fl.rests
	return fl.rests
}

// ReadOn undoes Rest.
func (fl *Flow) ReadOn() {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	if fl.broke {
		event, _ := fl.event.Load().(string)
		go fl.Run(nil, event)
	}
	fl.rests, fl.broke = false, false
}
