package kernel

// Stacks are coroutines that wait for work, so that runs need not make new ones: a stack that has grown is worth keeping.
// Runs that use the same ones follow one another. The zero value is empty and ready.
type Stacks struct {
	idle   []*coroutine
	closed bool
}

// maxIdle is the number of stacks that are kept: thousands are in use at once only
// when everything happens everywhere.
const maxIdle = 256

// take returns one that waits for work; nil if there is none.
func (s *Stacks) take() *coroutine {
	n := len(s.idle)
	if n == 0 {
		return nil
	}
	co := s.idle[n-1]
	s.idle[n-1], s.idle = nil, s.idle[:n-1]
	return co
}

// keep puts one by whose process is over; false means that it is one too many.
func (s *Stacks) keep(co *coroutine) bool {
	if s.closed || len(s.idle) >= maxIdle {
		return false
	}
	s.idle = append(s.idle, co)
	return true
}

// Close ends the stacks. Those that are in use end with their processes.
func (s *Stacks) Close() {
	s.closed = true
	for _, co := range s.idle {
		co.stop()
	}
	s.idle = nil
}
