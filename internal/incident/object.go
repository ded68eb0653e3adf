package incident

import (
	"fmt"

	"github.com/csisim/csisim/internal/incident/lines"
	"github.com/csisim/csisim/internal/incident/objects"
	"github.com/csisim/csisim/internal/incident/timeline"
)

// object adds the changes of an object, or an Event.
func (m *importing) object(source *lines.Source, fields map[string]any, number int) error {
	facts := m.factsOf(fields)
	if sentence := m.twins.of(fields, source.Name); sentence != "" {
		m.result.Problems = append(m.result.Problems, lines.Problem{File: source.Name, Text: sentence})
	}
	at := m.places.of(place{file: source.Name})
	for _, f := range facts {
		f.Line.Src = refOf(source, number)
		if err := m.fact(f, at); err != nil {
			return err
		}
	}
	return nil
}

// twins finds objects with the same name and different uids. Such objects belong to two clusters,
// or the object was created again.
type twins struct {
	known map[string]identity
	named bool
}

type identity struct{ uid, file string }

// of returns a sentence about the first object that has two uids although a cluster can have it
// only once.
func (t *twins) of(fields map[string]any, file string) string {
	name, uid := objects.Identity(fields)
	if name == "" || uid == "" || t.named {
		return ""
	}
	if t.known == nil {
		t.known = map[string]identity{}
	}
	before, is := t.known[name]
	t.known[name] = identity{uid, file}
	if !is || before.uid == uid {
		return ""
	}
	t.named = true
	return fmt.Sprintf("%s has another uid than in %s: it was made again, or the logs are of two clusters, which one trace mixes", name, before.file)
}

func (m *importing) factsOf(fields map[string]any) []objects.Fact {
	if fields["kind"] == "Event" {
		return objects.EventFacts(fields)
	}
	pod, node := objects.PodNode(fields)
	m.places.on(pod, node)
	facts := objects.Story(fields)
	m.result.Objects += min(len(facts), 1)
	return facts
}

func (m *importing) fact(f objects.Fact, at timeline.Place) error {
	return m.add(f.At, at, &f.Line)
}
