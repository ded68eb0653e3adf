package scheduler

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/world/store"
)

func pod(name string) store.Key { return store.Key{Namespace: "default", Name: name} }

// drain removes all pods that are to be tried now.
func drain(q *queue, now time.Duration) string {
	names := ""
	for key, ok := q.next(now); ok; key, ok = q.next(now) {
		names += key.Name
		q.tried(key)
	}
	return names
}

func TestNewPodsGoBeforeThoseThatWereTried(t *testing.T) {
	q := newQueue()
	q.activate(pod("a"))
	assert.Equal(t, "a", drain(q, 0))
	q.activate(pod("a"))
	q.activate(pod("b"))
	q.activate(pod("b"))
	assert.Equal(t, "ba", drain(q, 0))
}

// C-SCHED-10: an event activates the pods that its plugins have rejected.
func TestEventsActivateThePodsTheyMayHelp(t *testing.T) {
	q := newQueue()
	q.wait(pod("a"), 0, setOf(nodeAffinity), nil)
	q.wait(pod("b"), 0, setOf(nodeVolumeLimits, nodeAffinity), []store.Key{pod("claim")})
	q.wait(pod("c"), 0, setOf(claimsOfPod), []store.Key{pod("claim")})
	q.activateRejected(setOf(volumeZone))
	assert.Empty(t, drain(q, 0))
	q.activateUsers(pod("claim"), setOf(claimsOfPod))
	assert.Equal(t, "c", drain(q, 0))
	q.activateRejected(setOf(nodeAffinity))
	assert.Equal(t, "ab", drain(q, 0))
	assert.False(t, q.hasWaiting())
	assert.Empty(t, q.byClaim)
	assert.Equal(t, [pluginCount]int{}, q.blocked)
}

// After an error a pod waits 1 s, then 2 s, at most 10 s. No event shortens this.
func TestBackoffAfterAnError(t *testing.T) {
	q := newQueue()
	now := time.Duration(0)
	for _, want := range []time.Duration{1, 2, 4, 8, 10, 10} {
		q.activate(pod("a"))
		assert.Equal(t, "a", drain(q, now))
		q.fail(pod("a"), now)
		q.activate(pod("a"))
		end := now + want*time.Second
		assert.Equal(t, end, q.backoffEnds())
		_, ok := q.next(end - 1)
		assert.False(t, ok)
		q.endBackoffs(end)
		now = end
	}
}

func TestLeftoversAreTriedAfterFiveMinutes(t *testing.T) {
	w := guarded(t)
	w.add(aNode("n"), aPod("p", on("x")))
	w.Run(time.Second)
	first := w.scheduler.queue.attempts[pod("p")]
	w.Run(leftoverAfter)
	assert.Equal(t, first+1, w.scheduler.queue.attempts[pod("p")])
}
