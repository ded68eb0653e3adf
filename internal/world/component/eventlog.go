package component

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// maxRecent bounds the events that client-go's recorder keeps. The recorder counts older events
// from 1 again.
const maxRecent = 4096

// eventLog finds the Event object that a repeated event increments, among the events that were last
// written or looked up. The log is in the program's memory, so a restarted program counts from 1
// again. (trace m1) There are very many events, so the log stores only the necessary fields.
type eventLog struct {
	// Indexes of events, by the hash of the identity; nil before the first event.
	places map[eventHash]int32
	events []logged
	newest int32
	oldest int32
}

// logged is an event as this log last wrote it.
type logged struct {
	written
	hash         eventHash
	newer, older int32 // indexes; none at the ends
}

// written is the stored part of an event.
type written struct {
	name  string
	first int64 // in nanoseconds of Unix time
	count int32
}

func (w written) began() metav1.Time { return metav1.NewTime(time.Unix(0, w.first).UTC()) }

const none = -1

// eventIdentity has the fields that client-go's recorder compares to count repetitions. The node is
// always the program's own.
type eventIdentity struct {
	source                string
	about                 types.UID
	kind, reason, message string
}

// eventHash is the hash of an identity. Equal hashes within one log are practically impossible,
// because a log holds only a few thousand hashes.
type eventHash uint64

func (id eventIdentity) hash() eventHash {
	hash := eventHash(14695981039346656037)
	for _, text := range [...]string{id.source, string(id.about), id.kind, id.reason, id.message} {
		for i := range len(text) {
			hash = (hash ^ eventHash(text[i])) * 1099511628211
		}
		hash = (hash ^ 0xff) * 1099511628211
	}
	return hash
}

// find returns the event that a repetition increments, if there is one.
func (l *eventLog) find(hash eventHash) (written, bool) {
	at, ok := l.places[hash]
	if !ok {
		return written{}, false
	}
	l.unlink(at)
	l.link(at)
	return l.events[at].written, true
}

// keep adds an event, or replaces the event with the same identity.
func (l *eventLog) keep(hash eventHash, e *corev1.Event) {
	if l.places == nil {
		l.places, l.newest, l.oldest = map[eventHash]int32{}, none, none
	}
	at, known := l.places[hash]
	switch {
	case known:
		l.unlink(at)
	case len(l.events) < maxRecent:
		at = int32(len(l.events))
		l.events = append(l.events, logged{})
	default:
		at = l.oldest
		l.unlink(at)
		delete(l.places, l.events[at].hash)
	}
	l.events[at].written, l.events[at].hash = written{e.Name, e.FirstTimestamp.UnixNano(), e.Count}, hash
	l.places[hash] = at
	l.link(at)
}

// link makes an event the newest.
func (l *eventLog) link(at int32) {
	l.events[at].newer, l.events[at].older = none, l.newest
	if l.newest == none {
		l.oldest = at
	} else {
		l.events[l.newest].newer = at
	}
	l.newest = at
}

func (l *eventLog) unlink(at int32) {
	newer, older := l.events[at].newer, l.events[at].older
	if newer == none {
		l.newest = older
	} else {
		l.events[newer].older = older
	}
	if older == none {
		l.oldest = newer
	} else {
		l.events[older].newer = newer
	}
}
