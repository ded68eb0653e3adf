package manifest

import (
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// schemes are several schemes with disjoint groups.
type schemes []*runtime.Scheme

// newObject makes an empty object of the kind.
func (s schemes) newObject(kind schema.GroupVersionKind) (runtime.Object, error) {
	return s.of(kind.Group).New(kind)
}

// of returns the scheme that has a group; any scheme if none has it.
func (s schemes) of(group string) *runtime.Scheme {
	if at := slices.IndexFunc(s, func(one *runtime.Scheme) bool { return one.IsGroupRegistered(group) }); at >= 0 {
		return s[at]
	}
	return s[0]
}

func (s schemes) haveGroup(group string) bool { return s.of(group).IsGroupRegistered(group) }

// in returns the Go types of a version by kind.
func (s schemes) in(version schema.GroupVersion) map[string]reflect.Type {
	return s.of(version.Group).KnownTypes(version)
}

func (s schemes) all() map[schema.GroupVersionKind]reflect.Type {
	types := map[schema.GroupVersionKind]reflect.Type{}
	for _, one := range s {
		maps.Copy(types, one.AllKnownTypes())
	}
	return types
}

func (s schemes) versions() (all []schema.GroupVersion) {
	for _, one := range s {
		for _, version := range one.PrioritizedVersionsAllGroups() {
			if s.of(version.Group) == one {
				all = append(all, version)
			}
		}
	}
	return all
}
