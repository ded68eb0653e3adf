package kernel_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/world/kernel"
)

// work is the real time that a server of these tests takes.
const work = 20 * time.Millisecond

func measured() *kernel.Kernel { return kernel.New(kernel.Options{Pace: kernel.Measured}) }

func TestAMeasuredCallTakesTheTimeOfItsServer(t *testing.T) {
	k := measured()
	defer k.Close()
	var took time.Duration
	k.Spawn(nil, "caller", func(p *kernel.Process) {
		assert.True(t, p.Fly("call", kernel.Matter{}, time.Hour, func() { time.Sleep(work) }, nil))
		took = p.Elapsed()
	})
	assert.Equal(t, kernel.Stuck, k.Run(kernel.Until{}))
	assert.GreaterOrEqual(t, took, work)
}

func TestMeasuredCallsOverlapAsTheyDoInTheServer(t *testing.T) {
	k := measured()
	defer k.Close()
	meet := make(chan struct{})
	for range 2 {
		k.Spawn(nil, "caller", func(p *kernel.Process) {
			// The server serializes nothing.
			p.Fly("call", kernel.Matter{Of: "server"}, time.Hour, func() {
				select {
				case meet <- struct{}{}:
				case <-meet:
				}
			}, nil)
		})
	}
	assert.Equal(t, kernel.Stuck, k.Run(kernel.Until{}), "each call ends only if the other one has begun")
}

func TestAWaitWithoutACallTakesNoRealTime(t *testing.T) {
	k := measured()
	defer k.Close()
	k.Spawn(nil, "sleeper", func(p *kernel.Process) { p.Sleep(1000 * time.Hour) })
	assert.Equal(t, kernel.Stuck, k.Run(kernel.Until{}))
	assert.Equal(t, 1000*time.Hour, k.Elapsed())
}

func TestATimerFiresDuringAMeasuredCall(t *testing.T) {
	k := measured()
	defer k.Close()
	l := &log{k: k}
	fired := make(chan struct{})
	k.Spawn(nil, "timer", func(p *kernel.Process) { p.Sleep(work); l.lines = append(l.lines, "timer"); close(fired) })
	k.Spawn(nil, "caller", func(p *kernel.Process) {
		p.Fly("call", kernel.Matter{}, time.Hour, func() { <-fired }, nil)
		l.lines = append(l.lines, "answer")
	})
	assert.Equal(t, kernel.Stuck, k.Run(kernel.Until{}))
	assert.Equal(t, []string{"timer", "answer"}, l.lines)
}

func TestLatencyIsVirtualTimeAlone(t *testing.T) {
	k := measured()
	defer k.Close()
	l := &log{k: k}
	call := func(name string, latency time.Duration) {
		k.Spawn(nil, name, func(p *kernel.Process) {
			assert.True(t, p.Fly(name, kernel.Matter{Latency: latency}, 10*time.Hour, func() {}, nil))
			l.lines = append(l.lines, name)
		})
	}
	call("slow", 2*time.Hour)
	call("fast", time.Hour)
	assert.Equal(t, kernel.Stuck, k.Run(kernel.Until{}))
	assert.Equal(t, []string{"fast", "slow"}, l.lines)
	assert.GreaterOrEqual(t, k.Elapsed(), 2*time.Hour)
}

func TestALateAnswerOfAMeasuredCallIsDropped(t *testing.T) {
	k := measured()
	defer k.Close()
	k.Spawn(nil, "caller", func(p *kernel.Process) {
		assert.False(t, p.Fly("call", kernel.Matter{Latency: time.Hour}, time.Minute, func() {}, func() {}))
		assert.Equal(t, time.Minute, p.Elapsed())
	})
	assert.Equal(t, kernel.Stuck, k.Run(kernel.Until{}))
}

func TestARunByTheRealClockTakesTheTimeOfItsTimers(t *testing.T) {
	k := kernel.New(kernel.Options{Pace: kernel.Real})
	defer k.Close()
	began := time.Now()
	k.Spawn(nil, "sleeper", func(p *kernel.Process) { p.Sleep(work) })
	assert.Equal(t, kernel.Deadline, k.Run(kernel.Until{At: 2 * work}))
	assert.GreaterOrEqual(t, time.Since(began), 2*work)
}
