package kind

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/csisim/csisim/internal/world/definition"
	"github.com/csisim/csisim/internal/world/store"
)

// The real server has controllers for definitions, which need some time. Here each of their steps
// is a separate write that follows immediately.

// definitions maintains the kinds that definitions add.
type definitions struct {
	store     *store.Store
	unsettled []string // definitions that may need a step
	settling  bool
}

// DefinitionOf returns the current definition of a kind, nil for a built-in one. A changed
// definition is a new object.
func DefinitionOf(res *store.Resource) *definition.Definition {
	if Of(res).custom == nil {
		return nil
	}
	return Of(res).custom.definition
}

// observe processes a write of a definition; d is nil if it was removed.
func (s *definitions) observe(d, old *apiextensionsv1.CustomResourceDefinition) {
	if d == nil {
		s.store.Undefine(old.Name)
		s.unsettleGroup(old.Spec.Group)
		return
	}
	s.serve(d, old)
	s.unsettleGroup(d.Spec.Group)
}

// unsettle schedules the definition of a kind after an object was removed, since the definition may
// be waiting for that.
func (s *definitions) unsettle(kind *store.Resource) {
	s.unsettled = append(s.unsettled, kind.String())
}

// unsettleGroup schedules all definitions of a group, since one may have freed a name for another.
func (s *definitions) unsettleGroup(group string) {
	for d := range store.List[*apiextensionsv1.CustomResourceDefinition](s.store, "") {
		if d.Spec.Group == group && !slices.Contains(s.unsettled, d.Name) {
			s.unsettled = append(s.unsettled, d.Name)
		}
	}
}

// serve updates the kind of a definition. A built-in kind stays unchanged.
func (s *definitions) serve(d, old *apiextensionsv1.CustomResourceDefinition) {
	if _, builtIn := store.ResourceNamed(d.Name); builtIn || !definition.IsServed(d) {
		return
	}
	res, known := s.store.DefinedAs(d.Name)
	if known && old != nil && sameDefinition(d, old) {
		Of(res).custom.definition.Object = d
		return
	}
	made, err := definition.New(d)
	if err != nil {
		return // it was valid, and lists of its objects are empty
	}
	if !known {
		res = customResource(d)
	}
	redefine(res, made)
	s.store.Define(res)
}

// sameDefinition reports whether a write leaves the validation of objects unchanged.
func sameDefinition(d, old *apiextensionsv1.CustomResourceDefinition) bool {
	return store.Same(&d.Spec, &old.Spec) && store.Same(&d.Status.AcceptedNames, &old.Status.AcceptedNames) && definition.IsServed(old)
}

// settle executes the scheduled steps of definitions.
func (s *definitions) settle() {
	if s.settling {
		return // a step is in progress; it continues with the others
	}
	s.settling = true
	defer func() { s.settling = false }()
	for len(s.unsettled) > 0 {
		name := s.unsettled[0]
		s.unsettled = s.unsettled[1:]
		if d, ok := store.Get[*apiextensionsv1.CustomResourceDefinition](s.store, store.Key{Name: name}); ok {
			s.settleDefinition(d)
		}
	}
}

func (s *definitions) settleDefinition(d *apiextensionsv1.CustomResourceDefinition) {
	if d.DeletionTimestamp != nil {
		s.cleanUp(d)
		return
	}
	var others []*apiextensionsv1.CustomResourceDefinition
	for other := range store.List[*apiextensionsv1.CustomResourceDefinition](s.store, "") {
		if other.Spec.Group == d.Spec.Group && other.Name != d.Name {
			others = append(others, other)
		}
	}
	if next := definition.Next(d, others, s.store.Timestamp()); next != nil {
		s.store.Commit(definitionResource, store.KeyOf(d), d, next)
	}
}

// cleanUp deletes the objects of a definition that is being deleted, then the definition.
func (s *definitions) cleanUp(d *apiextensionsv1.CustomResourceDefinition) {
	if !slices.Contains(d.Finalizers, definition.Cleanup) {
		return
	}
	next := d.DeepCopy()
	if definition.SetCondition(next, definition.Terminating(apiextensionsv1.ConditionTrue, "InstanceDeletionInProgress",
		"CustomResource deletion is in progress"), s.store.Timestamp()) {
		s.store.Commit(definitionResource, store.KeyOf(d), d, next)
		return // and comes back
	}
	res, served := s.store.DefinedAs(d.Name)
	if served && s.deleteAll(res) > 0 {
		return // the removal of the last object schedules it again
	}
	next.Finalizers = slices.DeleteFunc(next.Finalizers, func(f string) bool { return f == definition.Cleanup })
	definition.SetCondition(next, cleaned(d, served), s.store.Timestamp())
	if len(next.Finalizers) == 0 {
		s.store.Commit(definitionResource, store.KeyOf(d), d, nil)
		return
	}
	s.store.Commit(definitionResource, store.KeyOf(d), d, next)
}

func cleaned(d *apiextensionsv1.CustomResourceDefinition, served bool) apiextensionsv1.CustomResourceDefinitionCondition {
	_, builtIn := store.ResourceNamed(d.Name)
	switch {
	case builtIn:
		return definition.Terminating(apiextensionsv1.ConditionFalse, "OverlappingBuiltInResource", "instances overlap with built-in resources in storage")
	case !served:
		return definition.Terminating(apiextensionsv1.ConditionFalse, "NeverEstablished", "resource was never established")
	}
	return definition.Terminating(apiextensionsv1.ConditionFalse, "InstanceDeletionCompleted", "removed all instances")
}

// deleteAll deletes all objects of a kind and returns how many are held by finalizers.
func (s *definitions) deleteAll(res *store.Resource) (held int) {
	for obj := range s.store.ListObjects(res, "") {
		key := store.KeyOf(obj)
		if obj.GetDeletionTimestamp() == nil {
			_, _ = s.store.DeleteObject(res, key) // it exists, and there are no preconditions
		}
		if _, stays := s.store.GetObject(res, key); stays {
			held++
		}
	}
	return held
}
