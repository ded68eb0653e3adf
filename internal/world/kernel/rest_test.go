package kernel_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/world/kernel"
)

func TestAProcessAtRestIsParkedWithoutAStack(t *testing.T) {
	k := kernel.New(kernel.Options{})
	defer k.Close()
	l := &log{k: k}
	var rest func(*kernel.Process)
	rest = func(p *kernel.Process) {
		l.add("awake")
		p.Rest("news", rest)
	}
	resting := k.Spawn(nil, "resting", rest)
	k.Spawn(nil, "other", func(p *kernel.Process) {
		for range 2 {
			p.Sleep(time.Second)
			resting.Wake()
		}
	})
	assert.Equal(t, kernel.Stuck, k.Run(kernel.Until{}))
	assert.Equal(t, []string{"0s awake", "1s awake", "2s awake"}, l.lines)
	assert.False(t, resting.Ended())
	assert.Contains(t, k.Waiting()[0], "news", "a report of all waits names it")
}

func TestRestContinuesAtOnceAfterAWakeUp(t *testing.T) {
	k := kernel.New(kernel.Options{})
	defer k.Close()
	l := &log{k: k}
	k.Spawn(nil, "p", func(p *kernel.Process) {
		p.Wake()
		p.Rest("news", func(*kernel.Process) { l.add("went on") })
	})
	k.Run(kernel.Until{})
	assert.Equal(t, []string{"0s went on"}, l.lines)
}

func TestACrashEndsAProcessAtRest(t *testing.T) {
	k := kernel.New(kernel.Options{})
	defer k.Close()
	group, ended := kernel.NewGroup("component"), 0
	p := k.Spawn(group, "p", func(p *kernel.Process) {
		p.OnEnd(func() { ended++ })
		p.Rest("news", func(*kernel.Process) { t.Error("runs after its end") })
	})
	k.Run(kernel.Until{})
	assert.Zero(t, ended)
	group.Crash()
	p.Wake()
	k.Run(kernel.Until{})
	assert.True(t, p.Ended())
	assert.Equal(t, 1, ended)
}

func TestAPanicAfterARestEndsTheProcess(t *testing.T) {
	k := kernel.New(kernel.Options{})
	defer k.Close()
	p := k.Spawn(nil, "p", func(p *kernel.Process) {
		p.Wake()
		p.Rest("news", func(*kernel.Process) { panic("broken") })
	})
	assert.Equal(t, kernel.Failed, k.Run(kernel.Until{}))
	assert.True(t, p.Ended())
	assert.ErrorContains(t, k.Err(), "broken")
}

// news is a source that a process watches.
type news struct{ waiting int }

func TestAProcessThatReactsRunsAtEachWakeUp(t *testing.T) {
	k := kernel.New(kernel.Options{})
	defer k.Close()
	l := &log{k: k}
	var react func(*kernel.Process)
	react = func(p *kernel.Process) {
		l.add("%v runs", k.Running() == p)
		p.React("news", react)
	}
	p := k.Spawn(nil, "p", react)
	k.Spawn(nil, "other", func(other *kernel.Process) {
		for range 2 {
			other.Sleep(time.Second)
			p.Wake()
			p.Wake()
		}
	})
	assert.Equal(t, kernel.Stuck, k.Run(kernel.Until{}))
	assert.Equal(t, []string{"0s true runs", "1s true runs", "2s true runs"}, l.lines)
	assert.Contains(t, k.Waiting()[0], "news")
}

// An informer delivers events in small batches, and may yield to other processes in between.
func TestAReactingProcessGivesWayLikeOneWithAStack(t *testing.T) {
	looping := func(p *kernel.Process, in *news, l *log) {
		for {
			p.Wait("news", func() bool { return in.waiting > 0 })
			in.waiting--
			l.add("takes one")
			p.Yield("between ", "two")
		}
	}
	reacting := func(p *kernel.Process, in *news, l *log) {
		var react func(*kernel.Process)
		react = func(p *kernel.Process) {
			if in.waiting == 0 {
				p.React("news", react)
				return
			}
			in.waiting--
			l.add("takes one")
			p.YieldTo(react, "between ", "two")
		}
		react(p)
	}
	run := func(seed uint64, take func(*kernel.Process, *news, *log)) ([]string, uint64) {
		k := kernel.New(kernel.Options{Strategy: kernel.NewRandom(seed)})
		defer k.Close()
		l, in := &log{k: k}, &news{waiting: 2}
		taker := k.Spawn(nil, "taker", func(p *kernel.Process) { take(p, in, l) })
		for _, name := range []string{"a", "b"} {
			k.Spawn(nil, name, func(p *kernel.Process) {
				for range 5 {
					in.waiting++
					taker.Wake()
					l.add("%s brings one", name)
					p.Yield("brought")
					p.Sleep(time.Duration(k.Choose(kernel.Jitter, 2, name)) * time.Second)
				}
			})
		}
		k.Run(kernel.Until{})
		return l.lines, k.Hash()
	}
	for seed := range uint64(50) {
		want, hash := run(seed, looping)
		got, alike := run(seed, reacting)
		assert.Equal(t, want, got, "seed %d", seed)
		assert.Equal(t, hash, alike, "seed %d", seed)
	}
}

func TestAReactingProcessContinuesOnAStack(t *testing.T) {
	k := kernel.New(kernel.Options{})
	defer k.Close()
	l := &log{k: k}
	var react func(*kernel.Process)
	work := func(p *kernel.Process) {
		p.Sleep(time.Second)
		l.add("worked")
		p.React("news", react)
	}
	react = func(p *kernel.Process) {
		l.add("looks")
		if k.Elapsed() == time.Minute {
			p.GoOn(work)
			return
		}
		p.React("news", react)
	}
	p := k.Spawn(nil, "p", react)
	k.Spawn(nil, "other", func(other *kernel.Process) {
		for range 3 {
			other.Sleep(30 * time.Second)
			p.Wake()
		}
	})
	k.Run(kernel.Until{})
	assert.Equal(t, []string{"0s looks", "30s looks", "1m0s looks", "1m1s worked", "1m30s looks"}, l.lines)
}

func TestAReactingProcessMustNotYield(t *testing.T) {
	k := kernel.New(kernel.Options{})
	defer k.Close()
	p := k.Spawn(nil, "p", func(p *kernel.Process) {
		p.React("news", func(p *kernel.Process) { p.Sleep(time.Second) })
	})
	k.Spawn(nil, "other", func(*kernel.Process) { p.Wake() })
	assert.Equal(t, kernel.Failed, k.Run(kernel.Until{}))
	assert.True(t, p.Ended())
	assert.ErrorContains(t, k.Err(), "process p panicked: gives way, although it reacts")
}

func TestACrashEndsAProcessThatReacts(t *testing.T) {
	k := kernel.New(kernel.Options{})
	defer k.Close()
	group, ended := kernel.NewGroup("component"), 0
	var react func(*kernel.Process)
	react = func(p *kernel.Process) { p.React("news", react) }
	p := k.Spawn(group, "p", react)
	p.OnEnd(func() { ended++ })
	k.Run(kernel.Until{})
	p.Wake()
	group.Crash()
	assert.Equal(t, kernel.Stuck, k.Run(kernel.Until{}))
	assert.True(t, p.Ended())
	assert.Equal(t, 1, ended)
}
