package main

import (
	"encoding/json"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
)

// lookout sees a live cluster for the page.
type lookout struct {
	cluster  *sim.Simulation
	name     string
	version  string
	evidence *expect.Evidence
	narrator *trace.Narrator
	shown    []pageEvent // in the order of their Seq
	seen     uint64      // Seq of the last event that was shown
}

func newLookout(c *sim.Simulation, name string) *lookout {
	return &lookout{cluster: c, name: name, version: c.World.Version.String(), evidence: c.Evidence(), narrator: trace.NewNarrator()}
}

// pageState is what the page shows.
type pageState struct {
	Name    string      `json:"name"`
	Version string      `json:"version"`
	Now     string      `json:"now"`
	Tables  []pageTable `json:"tables"`
	Events  []pageEvent `json:"events"`
	// Object is the chosen object in full, as JSON; empty if there is none.
	Object string `json:"object"`
}

type pageTable struct {
	Title   string    `json:"title"`
	Columns []string  `json:"columns"`
	Widths  []int     `json:"widths,omitempty"` // of the columns in per cent, nil for the usual ones
	Rows    []pageRow `json:"rows"`
}

// pageRow is one object. Its key is kind and name; With are the keys of those whose
// calls and events are part of its history.
type pageRow struct {
	Key   string     `json:"key"`
	With  []string   `json:"with,omitempty"`
	Cells []pageCell `json:"cells"`
}

// pageCell is a text and how it should strike the reader: good, bad, wait, soft or as usual.
type pageCell struct {
	Text string `json:"text"`
	Tone string `json:"tone,omitempty"`
}

// state is the cluster now, with the events after since.
func (l *lookout) state(since uint64, object string) (s pageState) {
	l.cluster.Exclusively(func() {
		s = pageState{Name: l.name, Version: l.version, Now: l.cluster.World.Kernel.Elapsed().Round(time.Second).String()}
		s.Tables = l.tables()
		s.Events = l.eventsAfter(since)
		s.Object = l.inFull(object)
	})
	return s
}

// inFull is an object by its key.
func (l *lookout) inFull(key string) string {
	kind, name, _ := strings.Cut(key, " ")
	res, ok := expect.KindsIn(l.cluster.World.Store).Named(kind)
	if !ok {
		return ""
	}
	at := store.Key{Name: name}
	if namespace, rest, ok := strings.Cut(name, "/"); ok && res.Namespaced {
		at = store.Key{Namespace: namespace, Name: rest}
	}
	obj, ok := l.cluster.World.Store.GetObject(res, at)
	if !ok {
		return ""
	}
	shown := obj.DeepCopyObject().(store.Object)
	shown.SetManagedFields(nil)
	hideSecrets(shown)
	text, err := json.MarshalIndent(shown, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// hidden stands for the values of a Secret: the page's token opens less than the API's does.
const hidden = "***"

// hideSecrets leaves the keys of a Secret, wherever kubectl has put its values.
func hideSecrets(obj store.Object) {
	secret, is := obj.(*corev1.Secret)
	if !is {
		return
	}
	shown := map[string]string{}
	for key := range secret.Data {
		shown[key] = hidden
	}
	for key := range secret.StringData {
		shown[key] = hidden
	}
	secret.Data, secret.StringData = nil, shown
	if _, applied := secret.Annotations[corev1.LastAppliedConfigAnnotation]; applied {
		secret.Annotations[corev1.LastAppliedConfigAnnotation] = hidden
	}
}
