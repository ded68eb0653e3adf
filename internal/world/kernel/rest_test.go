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
	assert.Contains(t, k.Waiting()[0], "news", "a report of what everybody waits for names it")
}

func TestRestGoesOnAtOnceIfThereIsNewsAlready(t *testing.T) {
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
