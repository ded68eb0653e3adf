package kernel

// Stacks are idle coroutines that runs reuse, because a grown stack is worth keeping. Runs with the
// same Stacks must follow one another. The zero value is empty and ready.
type Stacks struct {
	idle   []*coroutine
	closed bool
}

// maxIdle is the number of stacks that are kept. Only extreme runs use thousands at once.
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

// keep stores the stack of an ended process; false if enough are already stored.
func (s *Stacks) keep(co *coroutine) bool {
	if s.closed || len(s.idle) >= maxIdle {
		return false
	}
	s.idle = append(s.idle, co)
	return true
}

// Close ends the stacks. Stacks in use end with their processes.
func (s *Stacks) Close() {
	s.closed = true
	for _, co := range s.idle {
		co.stop()
	}
	s.idle = nil
}
