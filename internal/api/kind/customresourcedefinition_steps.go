package store

import (
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/internal/world/definition"
)

// The real server has controllers for definitions, which take some moments; here
// each step is a write of its own that follows at once.

// Resources are all resources of the store: what is built in and what definitions
// bring, sorted by name and group.
func (s *Store) Resources() []*Resource {
	return sorted(append(Resources(), s.Defined()...))
}

// Defined are the resources that definitions bring, sorted by name and group.
func (s *Store) Defined() []*Resource { return sorted(slices.Collect(maps.Values(s.defined))) }

// ResourceFor finds a resource by its kind, in any version.
func (s *Store) ResourceFor(gvk schema.GroupVersionKind) (*Resource, bool) {
	if r, ok := ResourceFor(gvk); ok {
		return r, true
	}
	for _, r := range s.defined { // any order: at most one has the kind
		if r.GVK.GroupKind() == gvk.GroupKind() {
			return r, true
		}
	}
	return nil, false
}

// Definition is the one that brings the kind; nil for a kind that is built in. It
// is that of now: a changed definition is another one.
func (r *Resource) Definition() *definition.Definition {
	if r.custom == nil {
		return nil
	}
	return r.custom.definition
}

// define keeps up with what a commit says of definitions.
func (s *Store) define(c *commit) {
	switch {
	case c.Resource == quotas:
		s.quotas = true
	case c.Resource.custom != nil && c.New == nil:
		s.unsettled = append(s.unsettled, c.Resource.String())
	case c.Resource != definitions:
	case c.New == nil:
		delete(s.defined, c.Key.Name)
		s.unsettleGroup(definitionOf(c.Old).Spec.Group)
	default:
		s.serve(definitionOf(c.New), c.Old)
		s.unsettleGroup(definitionOf(c.New).Spec.Group)
	}
}

// unsettleGroup: what one definition of a group does may free a name for another.
func (s *Store) unsettleGroup(group string) {
	for d := range List[*apiextensionsv1.CustomResourceDefinition](s.head, "") {
		if d.Spec.Group == group && !slices.Contains(s.unsettled, d.Name) {
			s.unsettled = append(s.unsettled, d.Name)
		}
	}
}

// serve brings the kind of a definition up to date. A kind that is built in stays
// what it is.
func (s *Store) serve(d *apiextensionsv1.CustomResourceDefinition, old Object) {
	if _, builtIn := byName[d.Name]; builtIn || !definition.IsServed(d) {
		return
	}
	res, known := s.defined[d.Name]
	if known && old != nil && sameDefinition(d, definitionOf(old)) {
		res.custom.definition.Object = d
		return
	}
	made, err := definition.New(d)
	if err != nil {
		return // it was valid; whoever asks for its objects finds none
	}
	if !known {
		res = customResource(d)
		s.defined[d.Name] = res
	}
	res.define(made)
}

// sameDefinition reports whether a write leaves alone what objects have to be like.
func sameDefinition(d, old *apiextensionsv1.CustomResourceDefinition) bool {
	return same(&d.Spec, &old.Spec) && same(&d.Status.AcceptedNames, &old.Status.AcceptedNames) && definition.IsServed(old)
}

// settle takes the steps that definitions have to take.
func (s *Store) settle() {
	for len(s.unsettled) > 0 {
		name := s.unsettled[0]
		s.unsettled = s.unsettled[1:]
		if d, ok := Get[*apiextensionsv1.CustomResourceDefinition](s.head, Key{Name: name}); ok {
			s.settleDefinition(d)
		}
	}
}

func (s *Store) settleDefinition(d *apiextensionsv1.CustomResourceDefinition) {
	if d.DeletionTimestamp != nil {
		s.cleanUp(d)
		return
	}
	var others []*apiextensionsv1.CustomResourceDefinition
	for other := range List[*apiextensionsv1.CustomResourceDefinition](s.head, "") {
		if other.Spec.Group == d.Spec.Group && other.Name != d.Name {
			others = append(others, other)
		}
	}
	if next := definition.Next(d, others, s.now()); next != nil {
		s.commit(definitions, KeyOf(d), d, next)
	}
}

// cleanUp deletes the objects of a definition that is being deleted, then it.
func (s *Store) cleanUp(d *apiextensionsv1.CustomResourceDefinition) {
	if !slices.Contains(d.Finalizers, definition.Cleanup) {
		return
	}
	next := d.DeepCopy()
	if definition.SetCondition(next, definition.Terminating(apiextensionsv1.ConditionTrue, "InstanceDeletionInProgress",
		"CustomResource deletion is in progress"), s.now()) {
		s.commit(definitions, KeyOf(d), d, next)
		return // and comes back
	}
	res, served := s.defined[d.Name]
	if served && s.deleteAll(res) > 0 {
		return // the last that goes brings it back
	}
	next.Finalizers = slices.DeleteFunc(next.Finalizers, func(f string) bool { return f == definition.Cleanup })
	definition.SetCondition(next, cleaned(d, served), s.now())
	if len(next.Finalizers) == 0 {
		s.commit(definitions, KeyOf(d), d, nil)
		return
	}
	s.commit(definitions, KeyOf(d), d, next)
}

func cleaned(d *apiextensionsv1.CustomResourceDefinition, served bool) apiextensionsv1.CustomResourceDefinitionCondition {
	_, builtIn := byName[d.Name]
	switch {
	case builtIn:
		return definition.Terminating(apiextensionsv1.ConditionFalse, "OverlappingBuiltInResource", "instances overlap with built-in resources in storage")
	case !served:
		return definition.Terminating(apiextensionsv1.ConditionFalse, "NeverEstablished", "resource was never established")
	}
	return definition.Terminating(apiextensionsv1.ConditionFalse, "InstanceDeletionCompleted", "removed all instances")
}

// deleteAll deletes all objects of a kind and answers how many finalizers hold.
func (s *Store) deleteAll(res *Resource) (held int) {
	for obj := range s.head.ListObjects(res, "") {
		key := KeyOf(obj)
		if obj.GetDeletionTimestamp() == nil {
			s.delete(res, key, obj, deletion{})
		}
		if _, stays := s.head.GetObject(res, key); stays {
			held++
		}
	}
	return held
}
