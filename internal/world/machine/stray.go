package machine

// Stray is a process that a program has started and that runs beside it.
type Stray struct {
	PID     int
	Command string // with its arguments
}
