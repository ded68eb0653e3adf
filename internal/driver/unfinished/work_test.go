package unfinished

import (
	"testing"
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

// moveTo moves the virtual clock as a kernel does, and returns how much wall time that took.
func (r *run) moveTo(to time.Duration) time.Duration {
	began := time.Now()
	for r.Hold(to, nil) {
	}
	r.now = to
	return time.Since(began)
}

// quickly bounds a move of the clock that takes no time, on a loaded machine.
const quickly = 40 * time.Millisecond

func TestTheClockIsNotHeldWithoutWork(t *testing.T) {
	r := newRun(time.Minute, nil)
	assert.Less(t, r.moveTo(time.Hour), quickly)
	r.Announce("d", "call", "a call")
	r.Finish("call")
	assert.Less(t, r.moveTo(2*time.Hour), quickly)
	assert.Empty(t, r.Waits())
}

func TestTheClockMovesAtTheRealPaceWhileWorkIsUnfinished(t *testing.T) {
	r := newRun(time.Minute, nil)
	r.Announce("d", "call", "a call")
	assert.GreaterOrEqual(t, r.moveTo(200*time.Millisecond), 200*time.Millisecond)
	r.Announce("d", "call", "a call") // the retry is not answered better
	assert.GreaterOrEqual(t, r.moveTo(500*time.Millisecond), 300*time.Millisecond)
	r.Finish("call")
	assert.Less(t, r.moveTo(time.Hour), quickly)
	require.Len(t, r.Waits(), 1)
	assert.Equal(t, "a call", r.Waits()[0].For)
	assert.InDelta(t, 500, r.Waits()[0].Took.Milliseconds(), 200)
}

func TestWorkGetsNoMoreTimeThanTheLimit(t *testing.T) {
	r := newRun(100*time.Millisecond, nil)
	r.Announce("d", "call", "a call")
	assert.True(t, r.Pending("call"))
	assert.InDelta(t, 100, r.moveTo(time.Hour).Milliseconds(), 60)
	assert.False(t, r.Pending("call"))
	r.Announce("d", "call", "a call")
	assert.Less(t, r.moveTo(2*time.Hour), quickly, "it had its time")

	none := newRun(0, nil)
	none.Announce("d", "call", "a call")
	assert.Less(t, none.moveTo(time.Hour), quickly)
}

func TestALateRetryIsNotAwaitedForEver(t *testing.T) {
	r := newRun(time.Minute, nil)
	r.Announce("d", "call", "a call")
	p := r.piece("call")
	assert.Equal(t, shortestStretch, p.stretch())
	p.real = p.first.Add(10 * time.Second)
	assert.Equal(t, 20*time.Second, p.stretch(), "work that takes long gets longer")
}

// Given a run that waited in vain, when another run of the same drivers waits for work of that
// kind, then it waits for a fraction of the limit, or for twice as long as such work took that was
// finished.
func TestRunsLearnFromEachOther(t *testing.T) {
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
}

// busy works until it was looked at so many times.
type busy struct{ looks int }

func (b *busy) Working() bool { b.looks--; return b.looks >= 0 }

func TestTheClockWaitsForProgramsThatWorkOn(t *testing.T) {
	r := newRun(time.Minute, nil)
	p := &busy{looks: 3}
	r.now = time.Minute
	r.Called(p)
	r.moveTo(time.Hour)
	assert.Equal(t, -1, p.looks)

	spinning := newRun(20*time.Millisecond, nil)
	spinning.now = time.Minute
	spinning.Called(&busy{looks: 1e9})
	assert.InDelta(t, 20, spinning.moveTo(time.Hour).Milliseconds(), 40)
	spinning.Called(&busy{looks: 1e9})
	assert.Less(t, spinning.moveTo(2*time.Hour), quickly, "it is not waited for again")
}

func TestAwaitLooksUntilItIsDone(t *testing.T) {
	r := newRun(time.Minute, nil)
	looks := 0
	r.Await(t.Context(), "lists", func() bool { looks++; return looks == 3 })
	assert.Equal(t, 3, looks)

	bounded := newRun(30*time.Millisecond, nil)
	began := time.Now()
	bounded.Await(t.Context(), "lists", func() bool { return false })
	assert.InDelta(t, 35, time.Since(began).Milliseconds(), 60)
}

func TestWaitsInWords(t *testing.T) {
	assert.Empty(t, InWords(nil))
	assert.Equal(t, "waited 3.5 s of real time for the driver: 3 s for snapshots; 500 ms for jobs",
		InWords([]Wait{{"snapshots", 3 * time.Second}, {"jobs", 500 * time.Millisecond}}))
}
