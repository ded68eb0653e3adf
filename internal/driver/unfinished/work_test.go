package unfinished

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// run is a Work with a virtual clock that the test moves.
type run struct {
	*Work
	now time.Duration
}

func newRun(limit time.Duration, experience *Experience) *run {
	r := &run{}
	r.Work = New(limit, experience, func() time.Duration { return r.now })
	return r
}

// moveTo moves the virtual clock like a kernel, and returns how much wall time that took. The wall
// clock of the tests comes from synctest, so times are exact.
func (r *run) moveTo(to time.Duration) time.Duration {
	began := time.Now()
	for r.Hold(to, nil) {
	}
	r.now = to
	return time.Since(began)
}

func TestTheClockIsNotHeldWithoutWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(time.Minute, nil)
		assert.Zero(t, r.moveTo(time.Hour))
		r.Announce("d", "call", "a call")
		r.Finish("call")
		assert.Zero(t, r.moveTo(2*time.Hour))
		assert.Empty(t, r.Waits())
	})
}

func TestTheClockMovesAtTheRealPaceWhileWorkIsUnfinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(time.Minute, nil)
		r.Announce("d", "call", "a call")
		assert.Equal(t, 200*time.Millisecond, r.moveTo(200*time.Millisecond))
		r.Announce("d", "call", "a call") // the retry gets the same answer
		assert.Equal(t, 300*time.Millisecond, r.moveTo(500*time.Millisecond))
		r.Finish("call")
		assert.Zero(t, r.moveTo(time.Hour))
		require.Len(t, r.Waits(), 1)
		assert.Equal(t, "a call", r.Waits()[0].For)
		assert.Equal(t, 500*time.Millisecond, r.Waits()[0].Took)
	})
}

func TestWorkGetsNoMoreTimeThanTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(100*time.Millisecond, nil)
		r.Announce("d", "call", "a call")
		assert.True(t, r.Pending("call"))
		assert.Equal(t, 100*time.Millisecond, r.moveTo(time.Hour))
		assert.False(t, r.Pending("call"))
		r.Announce("d", "call", "a call")
		assert.Zero(t, r.moveTo(2*time.Hour), "it had its time")

		none := newRun(0, nil)
		none.Announce("d", "call", "a call")
		assert.Zero(t, none.moveTo(time.Hour))
	})
}

func TestTheWaitForALateRetryIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(time.Minute, nil)
		r.Announce("d", "call", "a call")
		p := r.piece("call")
		assert.Equal(t, shortestStretch, p.stretch())
		p.real = p.first.Add(10 * time.Second)
		assert.Equal(t, 20*time.Second, p.stretch(), "work that takes long gets longer")
	})
}

// Given a run with an unsuccessful wait. When another run of the same drivers waits for work of
// that kind, then it waits for a fraction of the limit. If such work was finished before, it waits
// for twice the duration of that work.
func TestRunsLearnFromEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &Experience{}
		const limit = 2 * time.Second
		first := newRun(limit, e)
		first.Announce("d", "call", "a call")
		first.piece("call").first = time.Now().Add(-limit)
		assert.False(t, first.Pending("call"))

		assert.Equal(t, limit/fraction, e.limit("d a call", limit))
		assert.Equal(t, limit, e.limit("d another call", limit))
		assert.Equal(t, limit, e.limit("another a call", limit))
		e.finished("d a call", 700*time.Millisecond)
		assert.Equal(t, 1400*time.Millisecond, e.limit("d a call", limit))
		e.finished("d a call", time.Hour)
		assert.Equal(t, limit, e.limit("d a call", limit))
	})
}

// busy works until it was checked a number of times.
type busy struct{ looks int }

func (b *busy) Working() bool { b.looks--; return b.looks >= 0 }

func TestTheClockWaitsForProgramsThatWorkOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(time.Minute, nil)
		p := &busy{looks: 3}
		r.now = time.Minute
		r.Called(p)
		r.moveTo(time.Hour)
		assert.Equal(t, -1, p.looks)

		spinning := newRun(20*time.Millisecond, nil)
		spinning.now = time.Minute
		spinning.Called(&busy{looks: 1e9})
		assert.Equal(t, 22700*time.Microsecond, spinning.moveTo(time.Hour), "the limit, and the end of a pause")
		spinning.Called(&busy{looks: 1e9})
		assert.Zero(t, spinning.moveTo(2*time.Hour), "it is not waited for again")
	})
}

func TestAwaitLooksUntilItIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(time.Minute, nil)
		looks := 0
		r.Await(t.Context(), "lists", func() bool { looks++; return looks == 3 })
		assert.Equal(t, 3, looks)

		bounded := newRun(30*time.Millisecond, nil)
		began := time.Now()
		bounded.Await(t.Context(), "lists", func() bool { return false })
		assert.Equal(t, 35*time.Millisecond, time.Since(began))
	})
}

func TestWaitsInWords(t *testing.T) {
	assert.Empty(t, InWords(nil))
	assert.Equal(t, "waited 3.5 s of real time for the driver: 3 s for snapshots; 500 ms for jobs",
		InWords([]Wait{{"snapshots", 3 * time.Second}, {"jobs", 500 * time.Millisecond}}))
}
