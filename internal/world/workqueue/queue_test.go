package workqueue_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// desk is a queue with a handler that records the keys and times.
type desk struct {
	*kernel.Kernel
	*workqueue.Queue[string]
	log []string
}

func newDesk(t *testing.T, o workqueue.Options, handle func(*kernel.Process, string) error) *desk {
	d := &desk{Kernel: kernel.New(kernel.Options{})}
	t.Cleanup(d.Close)
	d.Queue = workqueue.New("queue", o, func(name string, body func(*kernel.Process)) *kernel.Process {
		return d.Spawn(nil, name, body)
	}, func(p *kernel.Process, key string) error {
		d.log = append(d.log, fmt.Sprintf("%v %s", p.Elapsed(), key))
		return handle(p, key)
	})
	return d
}

func TestAKeyIsQueuedOnceAndOnceMoreDuringItsWork(t *testing.T) { // C-GEN-2
	d := newDesk(t, workqueue.Options{Workers: 3}, func(p *kernel.Process, _ string) error { p.Sleep(time.Second); return nil })
	d.Add("a")
	d.Add("a")
	d.Spawn(nil, "late", func(p *kernel.Process) {
		p.Sleep(time.Millisecond)
		d.Add("a")
		d.Add("a")
	})
	d.Run(kernel.Until{})
	assert.Equal(t, []string{"0s a", "1s a"}, d.log)
}

func TestWorkersWorkOnDifferentKeysAtOnce(t *testing.T) {
	d := newDesk(t, workqueue.Options{Workers: 2}, func(p *kernel.Process, _ string) error { p.Sleep(time.Second); return nil })
	for _, key := range []string{"a", "b", "c"} {
		d.Add(key)
	}
	d.Run(kernel.Until{})
	assert.Equal(t, []string{"0s a", "0s b", "1s c"}, d.log)
}

func TestFailuresAreRetriedWithDoublingDelays(t *testing.T) { // C-ATT-3, C-PROV-3
	left := 4
	d := newDesk(t, workqueue.Options{Workers: 1, FirstDelay: time.Second, MaxDelay: 3 * time.Second}, func(*kernel.Process, string) error {
		if left--; left < 0 {
			return nil
		}
		return errors.New("not yet")
	})
	d.Add("a")
	d.Run(kernel.Until{})
	assert.Equal(t, []string{"0s a", "1s a", "3s a", "6s a", "9s a"}, d.log)
	assert.Zero(t, d.Failures("a"), "success forgets the failures")
}

func TestTheEarliestDelayOfAKeyCounts(t *testing.T) {
	d := newDesk(t, workqueue.Options{Workers: 1}, func(*kernel.Process, string) error { return nil })
	d.AddAfter("a", 5*time.Second)
	d.AddAfter("a", 2*time.Second)
	d.AddAfter("a", 3*time.Second)
	d.Run(kernel.Until{})
	assert.Equal(t, []string{"2s a"}, d.log)
}

func TestAHandlerCanSetItsOwnRetryDelay(t *testing.T) { // C-RES-21
	answers := []error{errors.New("not yet"), workqueue.Rest{Why: "refused", For: 5 * time.Second}, errors.New("not yet"), nil}
	d := newDesk(t, workqueue.Options{Workers: 1, FirstDelay: time.Second, MaxDelay: time.Minute}, func(*kernel.Process, string) error {
		err := answers[0]
		answers = answers[1:]
		return err
	})
	d.Add("a")
	d.Run(kernel.Until{})
	assert.Equal(t, []string{"0s a", "1s a", "6s a", "8s a"}, d.log, "a rest neither counts as a failure nor forgets one")
}

// C-GEN-1: a key waits for its own backoff. All keys together are limited to ten retries a second
// after the first hundred.
func TestRetriesOfManyKeysAreSpread(t *testing.T) {
	d := newDesk(t, workqueue.Default, func(*kernel.Process, string) error { return errors.New("not yet") })
	for n := range 103 {
		d.Add(fmt.Sprint(n))
	}
	d.Run(kernel.Until{At: 350 * time.Millisecond})
	first := map[string]string{}
	for _, line := range d.log[103:] {
		at, key, _ := strings.Cut(line, " ")
		if first[key] == "" {
			first[key] = at
		}
	}
	assert.Equal(t, "5ms", first["0"])
	assert.Equal(t, "5ms", first["99"])
	assert.Equal(t, []string{"100ms", "200ms", "300ms"}, []string{first["100"], first["101"], first["102"]})
}

// C-GEN-1
func TestTheDefaultBackoffEndsAtAThousandSeconds(t *testing.T) {
	d := newDesk(t, workqueue.Default, func(*kernel.Process, string) error { return errors.New("not yet") })
	d.Add("a")
	d.Run(kernel.Until{At: 5000 * time.Second})
	assert.Equal(t, []string{"0s a", "5ms a", "15ms a", "35ms a", "75ms a"}, d.log[:5])
	last := len(d.log) - 1
	at := func(n int) time.Duration {
		when, err := time.ParseDuration(strings.TrimSuffix(d.log[n], " a"))
		assert.NoError(t, err)
		return when
	}
	assert.Equal(t, 1000*time.Second, at(last)-at(last-1))
}
