package expect

import (
	"maps"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

// builtIn finds resources by every name that kubectl accepts.
var builtIn = func() map[string]*store.Resource {
	names := map[string]*store.Resource{}
	for _, res := range store.Resources() {
		for _, name := range namesOf(res) {
			names[name] = res
		}
	}
	return names
}()

// namesOf returns the names of a resource. They include its group if the bare name means another
// resource.
func namesOf(res *store.Resource) []string {
	if d := kind.DefinitionOf(res); d != nil {
		names := d.Object.Status.AcceptedNames
		name := strings.ToLower(names.Kind)
		return append([]string{names.Plural, names.Singular, name, res.String(), name + "." + res.GVR.Group}, names.ShortNames...)
	}
	plural, singular := res.GVR.Resource, strings.ToLower(res.GVK.Kind)
	if known, _ := store.ResourceNamed(plural); known != res {
		return []string{res.String(), singular + "." + res.GVR.Group}
	}
	of := kind.Of(res)
	return slices.Concat([]string{plural, singular}, of.ShortNames, of.Aliases)
}

// Kinds are the known kinds: the built-in ones, and those from definitions in a store.
type Kinds struct {
	store *store.Store // nil: built-in kinds only
}

// KindsIn returns the kinds of a store.
func KindsIn(s *store.Store) Kinds { return Kinds{s} }

// Names finds a resource by each of its names. Built-in resources take precedence over definitions,
// and each definition over those that are later in the alphabet.
func (k Kinds) Names() map[string]*store.Resource {
	if k.store == nil {
		return builtIn
	}
	names := maps.Clone(builtIn)
	for _, res := range k.store.Defined() {
		for _, name := range namesOf(res) {
			if _, taken := names[name]; !taken {
				names[name] = res
			}
		}
	}
	return names
}

// List returns every name of a resource, sorted.
func (k Kinds) List() []string { return slices.Sorted(maps.Keys(k.Names())) }

// Named finds a resource by one of its names, regardless of case.
func (k Kinds) Named(name string) (*store.Resource, bool) {
	name = strings.ToLower(name)
	if res, ok := builtIn[name]; ok || k.store == nil {
		return res, ok
	}
	for _, res := range k.store.Defined() {
		if slices.Contains(namesOf(res), name) {
			return res, true
		}
	}
	return nil, false
}

// Singular returns the name of a resource in messages: pod, persistentvolumeclaim.
func Singular(res *store.Resource) string { return strings.ToLower(res.GVK.Kind) }
