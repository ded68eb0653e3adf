package trace

import "k8s.io/apimachinery/pkg/runtime"

// Lines renders the events of one recording, one after the other: an object as it stands after a change is most often what
// stands before the next one, and is pruned once. The zero value is ready.
type Lines struct {
	last map[about]version
}

// about is whose versions follow each other.
type about struct{ cluster, resource, name string }

// version is an object between two changes, and the form that traces have of it.
type version struct {
	object runtime.Object
	pruned map[string]any
}

// Of renders an event as [Event.Line] does. Nobody may change what it returns.
func (s *Lines) Of(e *Event) (Line, error) { return e.line(s) }

// pruned is the object before or after an event.
func (s *Lines) pruned(e *Event, object runtime.Object) (map[string]any, error) {
	at := about{e.Cluster, e.Resource, e.Name}
	if known := s.last[at]; known.object != nil && known.object == object {
		return known.pruned, nil
	}
	fields, err := Pruned(e.Resource, object)
	if err != nil {
		return nil, err
	}
	if s.last == nil {
		s.last = map[about]version{}
	}
	s.last[at] = version{object, fields}
	return fields, nil
}

// forget is for an object that is gone.
func (s *Lines) forget(e *Event) { delete(s.last, about{e.Cluster, e.Resource, e.Name}) }
