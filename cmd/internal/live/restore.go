package live

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/csisim/csisim/internal/world/store"
)

// restore puts the objects into an empty store: definitions first, because the other objects may be
// of their kinds.
func (k *keptObjects) restore(s *store.Store) error {
	const definitions = "customresourcedefinitions.apiextensions.k8s.io"
	names := slices.Sorted(maps.Keys(k.lines))
	isDefinition := func(name string) bool { return k.lines[name].Resource == definitions }
	others := slices.DeleteFunc(slices.Clone(names), isDefinition)
	for _, name := range append(slices.DeleteFunc(names, func(name string) bool { return !isDefinition(name) }), others...) {
		if err := restoreLine(s, k.lines[name]); err != nil {
			return fmt.Errorf("restore %s: %w", name, err)
		}
	}
	s.Continue(k.Revision)
	return nil
}

func restoreLine(s *store.Store, line journalLine) error {
	res, ok := store.ResourceNamed(line.Resource)
	if !ok {
		res, ok = s.DefinedAs(line.Resource)
	}
	if !ok {
		return fmt.Errorf("found the resource %q, want a built-in one or that of a definition", line.Resource)
	}
	obj := res.New()
	if err := json.Unmarshal(line.Object, obj); err != nil {
		return err
	}
	return s.Restore(res, obj)
}
