package machine

// Stray is a process that a program has started and that runs in addition to it.
type Stray struct {
	PID     int
	Parent  int    // the PID of its parent, or of the process that adopted it
	Command string // with its arguments
}
