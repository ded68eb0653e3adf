package store

// shelf holds the objects of one resource, by namespace and name. A map by Key would take 50 % more
// memory. A nil shelf is empty.
type shelf[T any] struct {
	of     *Resource
	spaces map[string]map[string]T
	count  int
}

func (s *shelf[T]) get(key Key) (kept T, ok bool) {
	if s != nil {
		kept, ok = s.spaces[key.Namespace][key.Name]
	}
	return kept, ok
}

func (s *shelf[T]) put(of *Resource, key Key, kept T) {
	space := s.spaces[key.Namespace]
	if s.spaces == nil {
		s.of, s.spaces = of, map[string]map[string]T{}
	}
	if space == nil {
		space = map[string]T{}
		s.spaces[key.Namespace] = space
	}
	before := len(space)
	space[key.Name] = kept
	s.count += len(space) - before
}

func (s *shelf[T]) remove(key Key) {
	if _, ok := s.get(key); !ok {
		return
	}
	space := s.spaces[key.Namespace]
	delete(space, key.Name)
	s.count--
	if len(space) == 0 {
		delete(s.spaces, key.Namespace)
	}
}

func (s *shelf[T]) len() int {
	if s == nil {
		return 0
	}
	return s.count
}

// keys returns the keys of a namespace, or all keys, in no order.
func (s *shelf[T]) keys(namespace string) (keys []Key) {
	if s == nil {
		return nil
	}
	for space, objects := range s.spaces {
		if namespace != "" && space != namespace {
			continue
		}
		for name := range objects {
			keys = append(keys, Key{space, name})
		}
	}
	return keys
}
