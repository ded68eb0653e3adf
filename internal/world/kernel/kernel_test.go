package kernel_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/csisim/csisim/internal/world/kernel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// log collects lines of processes, with their virtual time.
type log struct {
	k     *kernel.Kernel
	lines []string
}

func (l *log) add(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf("%v ", l.k.Elapsed())+fmt.Sprintf(format, args...))
}

func TestVirtualTimeJumpsToTheNextTimer(t *testing.T) {
	k := kernel.New(kernel.Options{})
	defer k.Close()
	l := &log{k: k}
	k.Spawn(nil, "slow", func(p *kernel.Process) { p.Sleep(6 * time.Minute); l.add("slow") })
	k.Spawn(nil, "fast", func(p *kernel.Process) { p.Sleep(100 * time.Millisecond); l.add("fast") })

	assert.Equal(t, kernel.Stuck, k.Run(kernel.Until{}), "nothing is left to do")
	assert.Equal(t, []string{"100ms fast", "6m0s slow"}, l.lines)
}

// A live cluster begins now, in the time zone of its machine. Programs of a cluster have the clock
// of containers.
func TestTheClockIsInUTCWhereverTheMachineIs(t *testing.T) {
	begin := time.Date(2026, 1, 1, 1, 0, 0, 0, time.FixedZone("east", 3600))
	k := kernel.New(kernel.Options{Start: begin})
	defer k.Close()
	assert.Equal(t, "2026-01-01T00:00:00Z", k.Now().Format(time.RFC3339))
	assert.True(t, k.Now().Equal(begin))
}

func TestRunStopsAtItsLimit(t *testing.T) {
	k := kernel.New(kernel.Options{})
	defer k.Close()
	k.Spawn(nil, "p", func(p *kernel.Process) { p.Sleep(time.Hour) })
	assert.Equal(t, kernel.Deadline, k.Run(kernel.Until{At: time.Minute}))
	assert.Equal(t, time.Minute, k.Elapsed())
}

func TestATickerActsAtThePollAfterTheChange(t *testing.T) {
	now, early := (*kernel.Process).Tick, (*kernel.Process).TickEarly
	for _, c := range []struct {
		start func(*kernel.Process, time.Duration) *kernel.Ticker
		news  time.Duration
		acts  string
	}{
		{now, 130 * time.Millisecond, "200ms pass"},
		{now, 200 * time.Millisecond, "200ms pass"},
		{now, 201 * time.Millisecond, "300ms pass"},
		{now, time.Hour + time.Millisecond, "1h0m0.1s pass"},
		{early, 0, "100ms pass"},
		{early, 130 * time.Millisecond, "200ms pass"},
		{early, 200 * time.Millisecond, "300ms pass"},
	} {
		k := kernel.New(kernel.Options{})
		l := &log{k: k}
		loop := k.Spawn(nil, "loop", func(p *kernel.Process) {
			tick := c.start(p, 100*time.Millisecond)
			tick.Wait("news")
			l.add("pass")
		})
		k.Spawn(nil, "world", func(p *kernel.Process) { p.Sleep(c.news); loop.Wake() })
		k.Run(kernel.Until{})
		assert.Equal(t, []string{c.acts}, l.lines, "news at %v", c.news)
		k.Close()
	}
}

func TestAWakeUpDuringASleepIsKeptForTheNextPark(t *testing.T) {
	k := kernel.New(kernel.Options{})
	defer k.Close()
	l := &log{k: k}
	p := k.Spawn(nil, "p", func(p *kernel.Process) {
		p.Sleep(time.Second)
		p.Park("news")
		l.add("awake")
	})
	k.Spawn(nil, "world", func(*kernel.Process) { p.Wake() })
	k.Run(kernel.Until{})
	assert.Equal(t, []string{"1s awake"}, l.lines)
}

func TestParkUntilDistinguishesAWakeUpFromATimeout(t *testing.T) {
	k := kernel.New(kernel.Options{})
	defer k.Close()
	var got []bool
	p := k.Spawn(nil, "p", func(p *kernel.Process) {
		got = append(got, p.ParkUntil("news", 2*time.Second), p.ParkUntil("news", 3*time.Second))
	})
	k.Spawn(nil, "world", func(q *kernel.Process) { q.Sleep(time.Second); p.Wake() })
	k.Run(kernel.Until{})
	assert.Equal(t, []bool{true, false}, got)
}

func TestACrashUnwindsAtTheCurrentCallOfTheProcess(t *testing.T) {
	k := kernel.New(kernel.Options{})
	defer k.Close()
	l := &log{k: k}
	kubelet := kernel.NewGroup("kubelet")
	k.Spawn(kubelet, "worker", func(p *kernel.Process) {
		p.OnEnd(func() { l.add("ended") })
		l.add("mkdir")
		p.Sleep(time.Second)
		l.add("never reached")
	})
	k.Run(kernel.Until{Cond: func() bool { return true }})
	k.Spawn(kubelet, "never run", func(*kernel.Process) { l.add("never reached either") }).OnEnd(func() { l.add("ended unborn") })
	kubelet.Crash()
	assert.Zero(t, kubelet.Running())
	assert.Equal(t, kernel.Stuck, k.Run(kernel.Until{}))
	assert.Equal(t, []string{"0s mkdir", "0s ended", "0s ended unborn"}, l.lines)
}

func TestHousekeepingDoesNotKeepARunBusy(t *testing.T) {
	k := kernel.New(kernel.Options{})
	defer k.Close()
	rounds := 0
	k.Spawn(nil, "housekeeping", func(p *kernel.Process) {
		for {
			p.Idle(2 * time.Second)
			rounds++
		}
	})
	k.Spawn(nil, "work", func(p *kernel.Process) { p.Sleep(5 * time.Second) })
	assert.Equal(t, kernel.Quiet, k.Run(kernel.Until{StopWhenQuiet: true}))
	assert.Equal(t, 5*time.Second, k.Elapsed())
	assert.Equal(t, 2, rounds)
}

// calls runs concurrent calls. Calls without a matter answer in the reverse order, and only after
// all have been launched.
func calls(s kernel.Strategy, matters ...kernel.Matter) (begun, answered string) {
	k := kernel.New(kernel.Options{Strategy: s, Patience: time.Minute})
	defer k.Close()
	var lock sync.Mutex
	ended := make([]chan struct{}, len(matters)+1)
	for i := range ended {
		ended[i] = make(chan struct{})
	}
	close(ended[len(matters)])
	for i, matter := range matters {
		k.Spawn(nil, fmt.Sprint("caller ", i), func(p *kernel.Process) {
			p.Fly("call", matter, time.Minute, func() {
				lock.Lock()
				begun += fmt.Sprint(i)
				lock.Unlock()
				if matter.Of == "" {
					<-ended[i+1]
				}
				close(ended[i])
			}, nil)
			answered += fmt.Sprint(i)
		})
	}
	k.Run(kernel.Until{})
	return begun, answered
}

func TestCallsOfOneInstantAreConcurrentAndAnswersAreDeliveredInOrder(t *testing.T) {
	_, answered := calls(kernel.Calm{}, make([]kernel.Matter, 3)...)
	assert.Equal(t, "012", answered, "the last one had to answer first")
}

func TestCallsWithConflictingMattersAreSequential(t *testing.T) {
	one := kernel.Matter{Of: "driver", Parts: []string{"volume 1"}}
	begun, answered := calls(kernel.Calm{}, one, one, kernel.Matter{Of: "driver"}, one)
	assert.Equal(t, "0123", begun)
	assert.Equal(t, "0123", answered)
}

func TestCallsOverlapUnlessTheirMattersConflict(t *testing.T) {
	of := func(driver string, volumes ...string) kernel.Matter { return kernel.Matter{Of: driver, Parts: volumes} }
	for _, test := range []struct {
		a, b    kernel.Matter
		overlap bool
	}{
		{of("a", "1"), of("a", "2"), true},
		{of("a", "1"), of("b", "1"), true},
		{of("a", "1"), of("a", "2", "1"), false},
		{of("a"), of("a", "2"), false},
		{of("a"), of("b"), true},
		{of(""), of(""), true},
	} {
		k := kernel.New(kernel.Options{Patience: time.Minute})
		var inside, most atomic.Int32
		for _, matter := range []kernel.Matter{test.a, test.b} {
			k.Spawn(nil, "caller", func(p *kernel.Process) {
				p.Fly("call", matter, time.Minute, func() {
					most.Store(max(most.Load(), inside.Add(1)))
					for test.overlap && most.Load() < 2 {
						time.Sleep(time.Millisecond)
					}
					inside.Add(-1)
				}, nil)
			})
		}
		k.Run(kernel.Until{})
		assert.Equal(t, test.overlap, most.Load() == 2, "%v and %v", test.a, test.b)
		k.Close()
	}
}

func TestTheStrategyChoosesTheOrderOfAnswers(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(20) {
		_, order := calls(kernel.NewRandom(seed), make([]kernel.Matter, 3)...)
		_, again := calls(kernel.NewRandom(seed), make([]kernel.Matter, 3)...)
		assert.Equal(t, order, again)
		seen[order] = true
	}
	assert.Greater(t, len(seen), 3)
}

func TestAnOverdueCallBlocksNoOther(t *testing.T) {
	k := kernel.New(kernel.Options{Patience: 5 * time.Millisecond})
	defer k.Close()
	l := &log{k: k}
	release := make(chan struct{})
	for i, run := range []func(){func() { <-release }, func() { close(release) }} {
		k.Spawn(nil, fmt.Sprint("caller ", i), func(p *kernel.Process) {
			p.Fly("call", kernel.Matter{Of: "driver"}, time.Minute, run, nil)
			l.add("answer %d", i)
		})
	}
	k.Run(kernel.Until{})
	assert.Contains(t, l.lines, "0s answer 1")
}

// A run ends only after the effects of the calls in progress at the same instant.
func TestARunEndsWithNoCallUnanswered(t *testing.T) {
	k := kernel.New(kernel.Options{})
	defer k.Close()
	done := false
	k.Spawn(nil, "caller", func(p *kernel.Process) {
		p.Fly("call", kernel.Matter{}, time.Minute, func() { time.Sleep(time.Millisecond); done = true }, nil)
	})
	assert.Equal(t, kernel.Done, k.Run(kernel.Until{Cond: func() bool { return true }}))
	assert.True(t, done)
}

func TestTheCallOfACrashedProcessEndsBeforeOthersRun(t *testing.T) {
	k := kernel.New(kernel.Options{})
	defer k.Close()
	l := &log{k: k}
	caller := kernel.NewGroup("caller")
	k.Spawn(caller, "caller", func(p *kernel.Process) {
		p.Fly("call", kernel.Matter{}, time.Minute, func() { time.Sleep(time.Millisecond); l.add("call ends") }, func() { t.Error("cancelled") })
	})
	k.Run(kernel.Until{Cond: func() bool { caller.Crash(); return true }})
	k.Spawn(nil, "next", func(p *kernel.Process) { l.add("next") })
	k.Run(kernel.Until{})
	assert.Equal(t, []string{"0s call ends", "0s next"}, l.lines)
}

// arrivals enter when no other work is left, regardless of their arrival times.
func arrivals(s kernel.Strategy, names ...string) (order string) {
	k := kernel.New(kernel.Options{Strategy: s})
	defer k.Close()
	k.Spawn(nil, "p", func(p *kernel.Process) {
		for _, name := range names {
			k.Arrive(name, func() { order += name })
		}
		p.Yield("busy")
		order += "|"
	})
	k.Run(kernel.Until{})
	return order
}

func TestArrivalsRunByNameWhenNothingElseIsLeft(t *testing.T) {
	assert.Equal(t, "|abc", arrivals(kernel.Calm{}, "a", "b", "c"))
	assert.Equal(t, "|abc", arrivals(kernel.Calm{}, "c", "a", "b"))
	seen := map[string]bool{}
	for seed := range uint64(20) {
		order := arrivals(kernel.NewRandom(seed), "a", "b", "c")
		assert.Equal(t, order, arrivals(kernel.NewRandom(seed), "b", "c", "a"))
		seen[order] = true
	}
	assert.Len(t, seen, 6)
}

func TestPatienceLetsTheClockPassACallThatHangs(t *testing.T) {
	var overdue []string
	k := kernel.New(kernel.Options{Patience: 5 * time.Millisecond, OnOverdue: func(s string, _ bool) { overdue = append(overdue, s) }})
	release := make(chan struct{})
	l := &log{k: k}
	k.Spawn(nil, "caller", func(p *kernel.Process) {
		l.add("answered: %v", p.Fly("NodeStageVolume", kernel.Matter{}, 2*time.Minute, func() { <-release }, func() { close(release) }))
	})
	k.Run(kernel.Until{})
	assert.Equal(t, []string{"2m0s answered: false"}, l.lines)
	assert.Equal(t, []string{"NodeStageVolume"}, overdue)
	k.Close()
}

// Given a call that uses none of its patience, when it is answered late, then its answer still
// counts.
func TestACallMaySpendPatienceSlowerThanWallTime(t *testing.T) {
	const patience = 40 * time.Millisecond
	for name, test := range map[string]struct {
		share    time.Duration
		answered bool
	}{"a program that works": {0, true}, "a program that does nothing": {1, false}} {
		t.Run(name, func(t *testing.T) {
			k := kernel.New(kernel.Options{Patience: patience})
			defer k.Close()
			release := make(chan struct{})
			end := sync.OnceFunc(func() { close(release) })
			if test.answered {
				time.AfterFunc(5*patience, end)
			}
			answered := false
			matter := kernel.Matter{Of: "driver", Spent: func(passed time.Duration) time.Duration { return passed * test.share }}
			k.Spawn(nil, "caller", func(p *kernel.Process) {
				answered = p.Fly("call", matter, time.Minute, func() { <-release }, end)
			})
			k.Run(kernel.Until{})
			assert.Equal(t, test.answered, answered)
		})
	}
}

// Given a program that is stopped on purpose, when the patience of a call runs out, then the
// report says so.
func TestAnOverdueCallToAStoppedProgramIsExpected(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		var reported []bool
		k := kernel.New(kernel.Options{Patience: time.Millisecond, OnOverdue: func(_ string, held bool) { reported = append(reported, held) }})
		release := make(chan struct{})
		matter := kernel.Matter{Of: "driver", Held: func() bool { return stopped }}
		k.Spawn(nil, "caller", func(p *kernel.Process) {
			p.Fly("call", matter, time.Minute, func() { <-release }, func() { close(release) })
		})
		k.Run(kernel.Until{})
		assert.Equal(t, []bool{stopped}, reported)
		k.Close()
	}
}

// Given a program that is stopped on purpose, when a call to it waits, then the virtual clock
// stands still for a quarter of the patience.
func TestACallToAStoppedProgramGetsAQuarterOfThePatience(t *testing.T) {
	const patience = time.Second
	took := func(stopped bool) time.Duration {
		k := kernel.New(kernel.Options{Patience: patience})
		defer k.Close()
		release := make(chan struct{})
		matter := kernel.Matter{Of: "driver", Held: func() bool { return stopped }}
		k.Spawn(nil, "caller", func(p *kernel.Process) {
			p.Fly("call", matter, time.Minute, func() { <-release }, func() { close(release) })
		})
		began := time.Now()
		k.Run(kernel.Until{})
		return time.Since(began)
	}
	assert.GreaterOrEqual(t, took(false), patience)
	assert.Less(t, took(true), patience)
}

func TestTheClockIsHeldBeforeItMoves(t *testing.T) {
	var k *kernel.Kernel
	held := map[time.Duration]int{}
	k = kernel.New(kernel.Options{Hold: func(to time.Duration, wake <-chan struct{}) bool {
		held[to]++
		if held[to] == 1 {
			k.Post(func() {})
			<-wake // the post ends the wait
		}
		return held[to] == 1
	}})
	defer k.Close()
	k.Spawn(nil, "p", func(p *kernel.Process) { p.Sleep(time.Second) })
	assert.Equal(t, kernel.Deadline, k.Run(kernel.Until{At: time.Minute}))
	assert.Equal(t, map[time.Duration]int{time.Second: 2, time.Minute: 2}, held)
}

func TestCallsOfOneProcessDoNotOverlapWhenTheyFlyAlone(t *testing.T) {
	k := kernel.New(kernel.Options{})
	defer k.Close()
	inside, worst := 0, 0
	for range 5 {
		k.Spawn(nil, "caller", func(p *kernel.Process) {
			p.FlyAlone("call", time.Minute, func() {
				inside++
				worst = max(worst, inside)
				inside--
			}, nil)
		})
	}
	k.Run(kernel.Until{})
	assert.Equal(t, 1, worst)
}

func TestADeadlockListsTheWaitsOfItsProcesses(t *testing.T) {
	k := kernel.New(kernel.Options{})
	defer k.Close()
	for _, name := range []string{"pod/a", "pod/b"} {
		k.Spawn(nil, name, func(p *kernel.Process) { p.Park("volume data to be mounted") })
	}
	require.Equal(t, kernel.Stuck, k.Run(kernel.Until{Cond: func() bool { return false }}))
	assert.Equal(t, []string{"pod/a, pod/b: waits for volume data to be mounted"}, k.Waiting())
}

func TestALivelockIsDetected(t *testing.T) {
	k := kernel.New(kernel.Options{MaxStepsPerInstant: 100})
	defer k.Close()
	var a, b *kernel.Process
	a = k.Spawn(nil, "ping", func(p *kernel.Process) {
		for {
			b.Wake()
			p.Park("pong")
		}
	})
	b = k.Spawn(nil, "pong", func(p *kernel.Process) {
		for {
			a.Wake()
			p.Park("ping")
		}
	})
	require.Equal(t, kernel.Failed, k.Run(kernel.Until{}))
	assert.ErrorContains(t, k.Err(), "livelock: 100 steps at 0s")
}

func TestAPanicInAProcessFailsTheRun(t *testing.T) {
	k := kernel.New(kernel.Options{})
	defer k.Close()
	k.Spawn(nil, "broken", func(*kernel.Process) { panic("nil pointer") })
	require.Equal(t, kernel.Failed, k.Run(kernel.Until{}))
	assert.ErrorContains(t, k.Err(), "process broken panicked: nil pointer")
}

func TestInterruptEndsARunThatWaitsForADriver(t *testing.T) {
	k := kernel.New(kernel.Options{Patience: time.Hour})
	hang := make(chan struct{})
	k.Spawn(nil, "caller", func(p *kernel.Process) {
		p.Fly("call", kernel.Matter{}, time.Hour, func() { <-hang }, func() { close(hang) })
	})
	go k.Interrupt(errors.New("interrupted"))
	require.Equal(t, kernel.Failed, k.Run(kernel.Until{}))
	assert.EqualError(t, k.Err(), "interrupted")
	k.Close()
}

// replay is a strategy that repeats picks.
type replay []kernel.Pick

func (r replay) Choose(c kernel.Choice) int {
	for _, p := range r {
		if p.Index == c.Index {
			return p.Choice
		}
	}
	return 0
}

func (r replay) String() string { return "replay" }

// race lets three processes write in an order that only the strategy decides.
func race(s kernel.Strategy, r *kernel.Recorder) (string, []kernel.Pick, *kernel.Kernel) {
	var picks []kernel.Pick
	k := kernel.New(kernel.Options{Strategy: s, Recorder: r, OnChoice: func(c kernel.Choice, i int) {
		picks = append(picks, kernel.Pick{Index: c.Index, Choice: i})
	}})
	defer k.Close()
	var order []string
	for _, name := range []string{"a", "b", "c"} {
		k.Spawn(nil, name, func(p *kernel.Process) {
			for i := range 3 {
				p.Yield("write")
				order = append(order, fmt.Sprint(name, i))
			}
		})
	}
	k.Run(kernel.Until{})
	return strings.Join(order, " "), picks, k
}

func TestCalmIsFirstComeFirstServed(t *testing.T) {
	order, picks, _ := race(kernel.Calm{}, nil)
	assert.Equal(t, "a0 a1 a2 b0 b1 b2 c0 c1 c2", order)
	assert.Empty(t, picks)
}

func TestSameSeedSameRunAndReplayRepeatsIt(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(20) {
		order, picks, k := race(kernel.NewRandom(seed), nil)
		again, _, k2 := race(kernel.NewRandom(seed), nil)
		assert.Equal(t, order, again)
		assert.Equal(t, k.Hash(), k2.Hash())
		replayed, _, _ := race(replay(picks), nil)
		assert.Equal(t, order, replayed)
		seen[order] = true
	}
	assert.Greater(t, len(seen), 10, "seeds reach different interleavings")
}

func TestTheFirstDivergenceIsNamed(t *testing.T) {
	first := &kernel.Recorder{}
	race(kernel.NewRandom(1), first)
	same := first.Against()
	_, _, k := race(kernel.NewRandom(1), same)
	assert.NoError(t, k.Err())
	assert.NoError(t, same.Err())

	_, _, k = race(kernel.NewRandom(2), first.Against())
	assert.ErrorContains(t, k.Err(), "not deterministic: the runs differ from event")
}

// answering returns a run with a driver that gives an answer.
func answering(answer string, r *kernel.Recorder) *kernel.Kernel {
	k := kernel.New(kernel.Options{Recorder: r})
	defer k.Close()
	k.Spawn(nil, "caller", func(p *kernel.Process) {
		k.RecordAnswer("answer to NodeStageVolume", answer)
		k.Note(answer)
	})
	k.Run(kernel.Until{})
	return k
}

func TestADifferentAnswerOfADriverIsNotBlamedOnCsisim(t *testing.T) {
	first := &kernel.Recorder{}
	answering("yes", first)
	require.NoError(t, answering("yes", first.Against()).Err())
	var parted *kernel.Divergence
	require.ErrorAs(t, answering("no", first.Against()).Err(), &parted)
	assert.True(t, parted.Outside)
	assert.ErrorContains(t, parted, "first run:  at 0s: answer to NodeStageVolume: yes\n  second run: at 0s: answer to NodeStageVolume: no")

	_, _, k := race(kernel.NewRandom(2), first.Against())
	require.ErrorAs(t, k.Err(), &parted)
	assert.False(t, parted.Outside)
}

// BenchmarkSwitch measures one process waking another and parking.
func BenchmarkSwitch(b *testing.B) {
	k := kernel.New(kernel.Options{MaxStepsPerInstant: 1 << 60})
	defer k.Close()
	var ping, pong *kernel.Process
	ping = k.Spawn(nil, "ping", func(p *kernel.Process) {
		for range b.N {
			pong.Wake()
			p.Park("pong")
		}
	})
	pong = k.Spawn(nil, "pong", func(p *kernel.Process) {
		for range b.N {
			ping.Wake()
			p.Park("ping")
		}
	})
	k.Run(kernel.Until{})
}

// BenchmarkTimer measures a sleep of one process among a thousand that sleep.
func BenchmarkTimer(b *testing.B) {
	k := kernel.New(kernel.Options{})
	defer k.Close()
	const sleepers = 1000
	for range sleepers {
		k.Spawn(nil, "sleeper", func(p *kernel.Process) {
			for range b.N/sleepers + 1 {
				p.Sleep(time.Second)
			}
		})
	}
	k.Run(kernel.Until{})
}

// BenchmarkSpawn measures the life of a short process.
func BenchmarkSpawn(b *testing.B) {
	k := kernel.New(kernel.Options{MaxStepsPerInstant: 1 << 60})
	defer k.Close()
	k.Spawn(nil, "parent", func(p *kernel.Process) {
		for range b.N {
			p.Go("child", func(*kernel.Process) { p.Wake() })
			p.Park("child")
		}
	})
	k.Run(kernel.Until{})
}

// A million seconds pass in one second, to keep the test short.
func TestALiveRunKeepsPaceWithTheRealClock(t *testing.T) {
	k := kernel.New(kernel.Options{})
	defer k.Close()
	stop := make(chan struct{})
	var told []string
	k.Spawn(nil, "slow", func(p *kernel.Process) {
		p.Sleep(2 * time.Hour)
		told = append(told, "slow")
		go k.Post(func() {
			assert.GreaterOrEqual(t, k.Elapsed(), 2*time.Hour, "the clock has advanced at the time of the post")
			told = append(told, "posted")
			close(stop)
		})
	})
	k.Spawn(nil, "quick", func(p *kernel.Process) {
		p.Sleep(time.Hour)
		told = append(told, "quick")
		assert.Equal(t, time.Hour, p.Elapsed(), "a timer fires at its time, also when the real clock is ahead")
	})
	require.Equal(t, kernel.Done, k.RunLive(stop, 1e6))
	assert.Equal(t, []string{"quick", "slow", "posted"}, told)
}

func TestALiveRunContinuesDuringACall(t *testing.T) {
	k := kernel.New(kernel.Options{Patience: time.Hour})
	defer k.Close()
	stop, hang := make(chan struct{}), make(chan struct{})
	k.Spawn(nil, "caller", func(p *kernel.Process) {
		assert.True(t, p.Fly("call", kernel.Matter{}, 1000*time.Hour, func() { <-hang }, nil))
		close(stop)
	})
	k.Spawn(nil, "other", func(p *kernel.Process) {
		p.Sleep(time.Hour)
		close(hang)
	})
	require.Equal(t, kernel.Done, k.RunLive(stop, 1e6))
}

func TestRealScalesWithTheSpeedOfTheCluster(t *testing.T) {
	for speed, want := range map[float64]time.Duration{0.5: time.Second, 1: time.Second, 10: 10 * time.Second} {
		k := kernel.New(kernel.Options{})
		stop := make(chan struct{})
		k.Spawn(nil, "prober", func(*kernel.Process) {
			assert.Equal(t, want, k.Real(time.Second), "at speed %v", speed)
			close(stop)
		})
		require.Equal(t, kernel.Done, k.RunLive(stop, speed))
		assert.Equal(t, time.Second, k.Real(time.Second), "no real clock runs any more")
		k.Close()
	}
}

// At the end of a large run, as many processes are ready as there are pods.
func TestCloseEndsReadyProcessesAndThoseTheyWake(t *testing.T) {
	k := kernel.New(kernel.Options{})
	const n = 100_000
	ended := 0
	sleeper := k.Spawn(nil, "sleeper", func(p *kernel.Process) {
		p.OnEnd(func() { ended++ })
		p.Park("news")
		t.Error("runs after the end")
	})
	assert.Equal(t, kernel.Stuck, k.Run(kernel.Until{}))
	for range n {
		k.Spawn(nil, "ready", func(*kernel.Process) { t.Error("runs after the end") }).OnEnd(func() {
			ended++
			sleeper.Wake()
		})
	}
	k.Close()
	assert.Equal(t, n+1, ended)
}
