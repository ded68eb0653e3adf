package kernel

// Mark says that the running process did something that others may react to,
// such as the trace event numbered n. It returns the number of the event that
// led the process to do it, 0 if none did.
func (k *Kernel) Mark(n uint64) (cause uint64) {
	if k.running == nil {
		k.outside = n
		return 0
	}
	cause, k.running.cause = k.running.cause, n
	return cause
}

// because lets a process that is started or woken know what for.
func (k *Kernel) because(p *Process) {
	if k.running != nil {
		p.cause = k.running.cause
	} else {
		p.cause = k.outside
	}
}

// Running is the process that runs at the moment; nil between steps.
func (k *Kernel) Running() *Process { return k.running }
