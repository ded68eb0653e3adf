package incident

import (
	"github.com/csisim/csisim/internal/incident/lines"
	"github.com/csisim/csisim/internal/incident/objects"
	"github.com/csisim/csisim/internal/incident/timeline"
)

// object adds the changes of an object, or an Event.
func (m *importing) object(source *lines.Source, fields map[string]any, number int) error {
	facts := m.factsOf(fields)
	at := m.places.of(place{file: source.Name})
	for _, f := range facts {
		f.Line.Src = refOf(source, number)
		if err := m.fact(f, at); err != nil {
			return err
		}
	}
	return nil
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
