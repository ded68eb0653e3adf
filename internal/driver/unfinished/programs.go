package unfinished

import (
	"slices"
	"time"
)

// Program is a program of a driver.
type Program interface {
	// Working reports whether the program or one of its child processes computes, or waits for a
	// processor or a disk.
	Working() bool
}

// programs are the programs that may continue to work after they have answered.
type programs struct {
	called []Program
	looked time.Duration // virtual time of the last look
	began  time.Time     // wall time at which the wait for them began; zero for none
	pause  time.Duration // until the next look
	spin   bool          // the programs always work, so csisim does not wait for them
}

// lookPeriod is the virtual time between two checks whether programs work, because a check takes
// wall time.
const lookPeriod = time.Second

// Called notes that a program has answered a call.
func (w *Work) Called(p Program) {
	if w.limit > 0 && !w.programs.spin && !slices.Contains(w.programs.called, p) {
		w.programs.called = append(w.programs.called, p)
	}
}

// mayWork reports whether a program may be working when a check is due.
func (s *programs) mayWork(now time.Duration) bool {
	return len(s.called) > 0 && now >= s.looked+lookPeriod
}

// computing is the kind of work of programs that compute.
const computing = "driver programs that go on working after they have answered"

// The first pause between two looks at a program that works, and the longest.
const (
	firstPause   = 100 * time.Microsecond
	longestPause = 10 * time.Millisecond
)

// awaitPrograms waits for some wall time while a called program works, and reports whether it did.
func (w *Work) awaitPrograms(wake <-chan struct{}) bool {
	s := &w.programs
	for len(s.called) > 0 && !s.called[0].Working() {
		s.called = s.called[1:]
	}
	switch {
	case len(s.called) == 0:
		s.looked = w.now()
		if !s.began.IsZero() {
			w.experience.finished(computing, time.Since(s.began))
			s.began = time.Time{}
		}
		return false
	case s.began.IsZero():
		s.began, s.pause = time.Now(), firstPause
	case time.Since(s.began) >= w.experience.limit(computing, w.limit):
		w.experience.inVain(computing)
		s.called, s.spin = nil, true
		return false
	}
	w.pass(computing, s.pause, wake)
	s.pause = min(2*s.pause, longestPause)
	return true
}
