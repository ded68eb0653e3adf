package fakekubelet

import "time"

// Delays before a container that has ended is started again.
const (
	crashLoopFirst = 10 * time.Second
	crashLoopMost  = 5 * time.Minute
)

// crashLoop is the backoff of one container. After a long run of the container, the backoff starts
// from the beginning. All times are since the beginning of the run. K-POD-11
type crashLoop struct {
	delay   time.Duration
	updated time.Duration
}

// wait returns how long a container has to wait after its end at the given time.
func (b *crashLoop) wait(ended time.Duration) time.Duration {
	if b.expired(ended) {
		return 0
	}
	return b.delay
}

// next counts a restart.
func (b *crashLoop) next(now, ended time.Duration) {
	if b.expired(ended) {
		b.delay = crashLoopFirst
	} else {
		b.delay = min(2*b.delay, crashLoopMost)
	}
	b.updated = now
}

func (b *crashLoop) expired(ended time.Duration) bool {
	return b.delay == 0 || ended-b.updated > 2*crashLoopMost
}
