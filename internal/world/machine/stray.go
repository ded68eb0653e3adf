package machine

// Stray is a process that a program has started and that runs beside it.
type Stray struct {
	PID     int
	Parent  int    // the PID of the process that started it, or that took it over when that one had ended
	Command string // with its arguments
}
