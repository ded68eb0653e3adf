package scheduler

import (
	"cmp"
	"slices"
	"time"

	"github.com/csisim/csisim/internal/world/store"
)

// Backoff after a failed attempt: 1 s, doubled with each further attempt.
const (
	initialBackoff = time.Second
	maxBackoff     = 10 * time.Second
)

// queue holds the pods that need a node. A pod is active, waits for an event that may make it
// schedulable, or waits for its backoff after an error. If no other pod is active, a pod that an
// event activates ends its backoff early, as in the real queue (SchedulerPopFromBackoffQ).
type queue struct {
	active   []store.Key
	retries  []store.Key // active, but tried before: new pods are first
	isActive map[store.Key]bool
	attempts map[store.Key]int
	priority map[store.Key]int32         // priorities of pods with a priority other than 0
	backoff  map[store.Key]time.Duration // end of the backoff after an error
	waiting  map[store.Key]*waitingPod
	byClaim  map[store.Key]map[store.Key]bool
	blocked  [pluginCount]int // the number of waiting pods that each plugin has rejected
	arrivals int
	arrived  []*waitingPod // in order of arrival; includes pods that no longer wait
}

// waitingPod is a pod that fits nowhere.
type waitingPod struct {
	key     store.Key
	arrival int
	since   time.Duration
	plugins pluginSet
	claims  []store.Key
}

func newQueue() *queue {
	return &queue{
		isActive: map[store.Key]bool{}, attempts: map[store.Key]int{}, priority: map[store.Key]int32{}, backoff: map[store.Key]time.Duration{},
		waiting: map[store.Key]*waitingPod{}, byClaim: map[store.Key]map[store.Key]bool{},
	}
}

// activate queues a pod for the next attempt.
func (q *queue) activate(key store.Key) {
	q.stopWaiting(key)
	if _, off := q.backoff[key]; off || q.isActive[key] {
		return
	}
	q.isActive[key] = true
	if q.attempts[key] > 0 {
		q.retries = q.insert(q.retries, key)
	} else {
		q.active = q.insert(q.active, key)
	}
}

// insert puts a pod behind the pods of its priority and before pods of lower priority.
func (q *queue) insert(list []store.Key, key store.Key) []store.Key {
	at := len(list)
	for at > 0 && q.priority[list[at-1]] < q.priority[key] {
		at--
	}
	return slices.Insert(list, at, key)
}

// setPriority is called before a pod is activated for the first time.
func (q *queue) setPriority(key store.Key, priority int32) {
	if priority != 0 {
		q.priority[key] = priority
	}
}

// isEmpty reports whether no pod waits for anything.
func (q *queue) isEmpty() bool {
	return len(q.active)+len(q.retries)+len(q.backoff)+len(q.waiting) == 0
}

// next removes the first pod and returns it.
func (q *queue) next(now time.Duration) (store.Key, bool) {
	q.endBackoffs(now)
	for _, from := range []*[]store.Key{&q.active, &q.retries} {
		for len(*from) > 0 {
			key := (*from)[0]
			*from = (*from)[1:]
			if q.isActive[key] {
				delete(q.isActive, key)
				return key, true
			}
		}
	}
	return store.Key{}, false
}

func (q *queue) tried(key store.Key) { q.attempts[key]++ }

// wait keeps a pod until an event may make it schedulable.
func (q *queue) wait(key store.Key, now time.Duration, plugins pluginSet, claims []store.Key) {
	q.stopWaiting(key)
	q.arrivals++
	w := &waitingPod{key: key, arrival: q.arrivals, since: now, plugins: plugins, claims: claims}
	q.waiting[key] = w
	q.arrived = append(q.arrived, w)
	q.count(plugins, 1)
	for _, claim := range claims {
		if q.byClaim[claim] == nil {
			q.byClaim[claim] = map[store.Key]bool{}
		}
		q.byClaim[claim][key] = true
	}
}

func (q *queue) stopWaiting(key store.Key) {
	w, ok := q.waiting[key]
	if !ok {
		return
	}
	delete(q.waiting, key)
	q.count(w.plugins, -1)
	for _, claim := range w.claims {
		delete(q.byClaim[claim], key)
		if len(q.byClaim[claim]) == 0 {
			delete(q.byClaim, claim)
		}
	}
}

func (q *queue) count(plugins pluginSet, n int) {
	for plugin := range pluginCount {
		if plugins.has(plugin) {
			q.blocked[plugin] += n
		}
	}
}

// fail makes a pod wait for its backoff after a failed binding.
func (q *queue) fail(key store.Key, now time.Duration) {
	delay := initialBackoff
	for n := 1; n < q.attempts[key] && delay < maxBackoff; n++ {
		delay = min(2*delay, maxBackoff)
	}
	q.backoff[key] = now + delay
}

func (q *queue) endBackoffs(now time.Duration) {
	var over []store.Key
	for key, at := range q.backoff {
		if at <= now {
			over = append(over, key)
		}
	}
	slices.SortFunc(over, compareKeys)
	for _, key := range over {
		delete(q.backoff, key)
		q.activate(key)
	}
}

// forget drops a pod that no longer needs a node.
func (q *queue) forget(key store.Key) {
	q.stopWaiting(key)
	delete(q.isActive, key)
	delete(q.attempts, key)
	delete(q.backoff, key)
	delete(q.priority, key)
}

// activateRejected queues the waiting pods that one of the plugins has rejected.
func (q *queue) activateRejected(by pluginSet) {
	any := false
	for plugin := range pluginCount {
		any = any || (by.has(plugin) && q.blocked[plugin] > 0)
	}
	if any {
		q.activateWhere(func(w *waitingPod) bool { return w.plugins&by != 0 })
	}
}

// activateUsers queues the waiting pods that use a claim, if one of the plugins has rejected them.
func (q *queue) activateUsers(claim store.Key, by pluginSet) {
	users := make([]*waitingPod, 0, len(q.byClaim[claim]))
	for key := range q.byClaim[claim] {
		if w := q.waiting[key]; w.plugins&by != 0 {
			users = append(users, w)
		}
	}
	q.activateAll(users)
}

// activateLeftovers queues the pods that have waited since the given time or longer.
func (q *queue) activateLeftovers(since time.Duration) {
	q.activateWhere(func(w *waitingPod) bool { return w.since <= since })
}

func (q *queue) activateWhere(which func(*waitingPod) bool) {
	var found []*waitingPod
	// In any order: activateAll sorts them.
	for _, w := range q.waiting {
		if which(w) {
			found = append(found, w)
		}
	}
	q.activateAll(found)
}

func (q *queue) activateAll(pods []*waitingPod) {
	slices.SortFunc(pods, func(a, b *waitingPod) int { return cmp.Compare(a.arrival, b.arrival) })
	for _, w := range pods {
		q.activate(w.key)
	}
}

func (q *queue) hasBackoff() bool { return len(q.backoff) > 0 }
func (q *queue) hasWaiting() bool { return len(q.waiting) > 0 }

func (q *queue) backoffEnds() time.Duration {
	first := time.Duration(-1)
	for _, at := range q.backoff {
		if first < 0 || at < first {
			first = at
		}
	}
	return first
}

// oldest returns the time at which the first of the waiting pods began to wait.
func (q *queue) oldest() time.Duration {
	for q.waiting[q.arrived[0].key] != q.arrived[0] {
		q.arrived = q.arrived[1:]
	}
	return q.arrived[0].since
}

func compareKeys(a, b store.Key) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
