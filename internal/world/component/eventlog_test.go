package component

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

// client-go's recorder knows of the 4,096 events that it met last.
func TestTheLogKnowsTheEventsThatItMetLast(t *testing.T) {
	var log eventLog
	event := func(i int) *corev1.Event {
		return &corev1.Event{
			Source: corev1.EventSource{Component: "kubelet"}, Reason: "Started", Message: fmt.Sprint(i),
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", UID: "1"},
		}
	}
	assert.Nil(t, log.find(identityOf(event(0))))
	for i := range maxRecent {
		log.keep(identityOf(event(i)), event(i))
	}
	assert.NotNil(t, log.find(identityOf(event(0))), "which makes it the one that was met last")
	counted := event(2)
	counted.Count = 7
	log.keep(identityOf(counted), counted)
	for i := range 10 {
		log.keep(identityOf(event(maxRecent+i)), event(maxRecent+i))
	}
	for i := 1; i <= 11; i++ {
		assert.Equal(t, i == 2, log.find(identityOf(event(i))) != nil, i)
	}
	assert.NotNil(t, log.find(identityOf(event(0))))
	assert.NotNil(t, log.find(identityOf(event(12))))
	assert.EqualValues(t, 7, log.find(identityOf(event(2))).Count)
	assert.Len(t, log.events, maxRecent)
	assert.Len(t, log.places, maxRecent)

	reported := event(0)
	reported.Source.Component, reported.ReportingController = "", "default-scheduler"
	assert.Nil(t, log.find(identityOf(reported)))
	log.keep(identityOf(reported), reported)
	assert.Same(t, reported, log.find(identityOf(reported)))
}
