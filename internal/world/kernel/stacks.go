package kernel

// Stacks are idle coroutines that runs reuse, since a stack that has grown is worth keeping. Runs
// with the same Stacks must follow one another. The zero value is empty and ready.
type Stacks struct {
	idle   []*coroutine
	closed bool
}

// maxIdle is the number of stacks that are kept: thousands are in use at once only in extreme runs.
const maxIdle = 256

// take returns an idle stack; nil if there is none.
func (s *Stacks) take() *coroutine {
	n := len(s.idle)
	if n == 0 {
		return nil
	}
	co := s.idle[n-1]
	s.idle[n-1], s.idle = nil, s.idle[:n-1]
	return co
}

// keep stores the stack of an ended process; false if enough are stored already.
func (s *Stacks) keep(co *coroutine) bool {
	if s.closed || len(s.idle) >= maxIdle {
		return false
	}
	s.idle = append(s.idle, co)
	return true
}

// Close ends the stacks. Those in use end with their processes.
func (s *Stacks) Close() {
	s.closed = true
	for _, co := range s.idle {
		co.stop()
	}
	s.idle = nil
}
