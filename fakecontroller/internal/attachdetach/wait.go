package attachdetach

import (
	"fmt"
	"time"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// Polling of a VolumeAttachment. C-CSIP-4
const (
	firstPoll      = 500 * time.Millisecond
	pollFactor     = 1.05
	maxPoll        = 7 * time.Second
	maxJitter      = 10 // percent
	attachmentWait = 2 * time.Minute
)

// attachmentNews wakes a waiting operation when its VolumeAttachment has changed.
type attachmentNews struct {
	process *kernel.Process
	changed bool
}

// timedOut is the error if the wait for the attacher takes too long. C-CSIP-9
type timedOut struct{ driver, verb, handle string }

func (e timedOut) Error() string {
	return fmt.Sprintf("timed out waiting for external-attacher of %s CSI driver to %s volume %s", e.driver, e.verb, e.handle)
}

// awaitAttachment polls a VolumeAttachment in the cache until look is done or fails. It omits polls
// between two changes, because they would find nothing new.
func (c *Controller) awaitAttachment(p *kernel.Process, name string, look func(*storagev1.VolumeAttachment) (bool, error), timeout error) error {
	news := &attachmentNews{process: p, changed: true}
	c.waiting[name] = news
	defer delete(c.waiting, name)
	deadline := p.Elapsed() + attachmentWait
	polls := newPolls(p.Elapsed(), func() int { return p.Kernel().Choose(kernel.Jitter, maxJitter+1, "poll of a VolumeAttachment") })
	for {
		p.WaitUntil("VolumeAttachment "+name, deadline, func() bool { return news.changed })
		at := polls.notBefore(p.Elapsed())
		if at >= deadline {
			p.Sleep(deadline - p.Elapsed())
			return timeout
		}
		p.Sleep(at - p.Elapsed())
		news.changed = false
		va, _ := component.Cached[*storagev1.VolumeAttachment](c.Component, store.Key{Name: name})
		if done, err := look(va); done || err != nil {
			return err
		}
	}
}

// polls is the sequence of instants at which a VolumeAttachment is read.
type polls struct {
	at, delay time.Duration
	jitter    func() int // percent to add to a delay
}

func newPolls(start time.Duration, jitter func() int) *polls {
	s := &polls{at: start, delay: firstPoll, jitter: jitter}
	s.step()
	return s
}

func (s *polls) step() {
	s.at += s.delay + s.delay*time.Duration(s.jitter())/100
	s.delay = min(time.Duration(float64(s.delay)*pollFactor), maxPoll)
}

// notBefore returns the first poll at or after now.
func (s *polls) notBefore(now time.Duration) time.Duration {
	for s.at < now {
		s.step()
	}
	return s.at
}
