package component

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// client-go's recorder keeps the last 4,096 events.
func TestTheLogRemembersTheLastEvents(t *testing.T) {
	var log eventLog
	id := func(i int) eventHash {
		return eventIdentity{source: "kubelet", about: "1", kind: "Pod", reason: "Started", message: fmt.Sprint(i)}.hash()
	}
	event := func(i int) *corev1.Event {
		return &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i)}, FirstTimestamp: metav1.Unix(int64(i), 0)}
	}
	knows := func(id eventHash) bool { _, ok := log.find(id); return ok }
	assert.False(t, knows(id(0)))
	for i := range maxRecent {
		log.keep(id(i), event(i))
	}
	assert.True(t, knows(id(0)), "which makes it the one that was met last")
	counted := event(2)
	counted.Count = 7
	log.keep(id(2), counted)
	for i := range 10 {
		log.keep(id(maxRecent+i), event(maxRecent+i))
	}
	for i := 1; i <= 11; i++ {
		assert.Equal(t, i == 2, knows(id(i)), i)
	}
	assert.True(t, knows(id(0)))
	assert.True(t, knows(id(12)))
	found, _ := log.find(id(2))
	assert.Equal(t, written{name: "2", first: 2e9, count: 7}, found)
	assert.Len(t, log.events, maxRecent)
	assert.Len(t, log.places, maxRecent)

	for _, other := range []eventIdentity{
		{"default-scheduler", "1", "Pod", "Started", "0"}, {"kubelet", "2", "Pod", "Started", "0"},
		{"kubelet", "1", "Node", "Started", "0"}, {"kubelet", "1", "Pod", "Failed", "0"},
	} {
		assert.False(t, knows(other.hash()), other)
	}
}
