package trace

import "k8s.io/apimachinery/pkg/runtime"

// Lines renders the events of one recording in their order. It prunes an object once for two
// events, because the object after a change is usually the object before the next one. The zero
// value is ready.
type Lines struct {
	last map[about]version
}

// about identifies an object.
type about struct{ cluster, resource, name string }

// version is an object between two changes, and its form in traces.
type version struct {
	object runtime.Object
	pruned map[string]any
}

// Of renders an event like [Event.Line]. Callers must not modify the result.
func (s *Lines) Of(e *Event) (Line, error) { return e.line(s) }

// pruned returns the object before or after an event, in the form of traces.
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

// forget drops a deleted object.
func (s *Lines) forget(e *Event) { delete(s.last, about{e.Cluster, e.Resource, e.Name}) }
