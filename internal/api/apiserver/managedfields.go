package apiserver

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/csisim/csisim/internal/world/store"
)

// managedFields maintains metadata.managedFields, which records the manager of each field.
type managedFields struct {
	now func() time.Time
}

func newManagedFields(now func() time.Time) *managedFields { return &managedFields{now} }

// converter has the schema of all built-in kinds. It is made at its first use.
var converter = sync.OnceValue(func() managedfields.TypeConverter {
	return applyconfigurations.NewTypeConverter(scheme.Scheme)
})

// versionsOf returns all versions of a built-in kind. Fields may be owned in one version and looked
// up in another.
func versionsOf(k *servedKind) (all []*servedKind) {
	for _, other := range builtIn() {
		if other.res == k.res {
			all = append(all, other)
		}
	}
	return all
}

// converter returns the built-in converter, or one for a kind that it lacks.
func (k *servedKind) converter() (typeConverter, error) {
	switch {
	case k == scales:
		return typesOf(k)
	case k.types() == moreTypes():
		return typesOf(versionsOf(k)...)
	}
	return converter(), nil
}

// fieldManagers has the managers created so far. Each manager is responsible for one part of one
// kind, and serves all servers.
var fieldManagers sync.Map

type managed struct {
	kind string
	part part
}

func managerOf(k *servedKind, what part) (*managedfields.FieldManager, error) {
	if k.custom != nil {
		return k.custom.manager(k, what)
	}
	name := managed{k.gvk.String(), what}
	if known, ok := fieldManagers.Load(name); ok {
		return known.(*managedfields.FieldManager), nil
	}
	types, err := k.converter()
	if err != nil {
		return nil, err
	}
	made, err := managedfields.NewDefaultFieldManager(newThriftyTypes(types), thriftyVersions{k.types()}, noDefaults{}, k.types(),
		k.gvk, k.gvk.GroupVersion(), string(what), resetFields(k, what))
	if err != nil {
		return nil, fmt.Errorf("field ownership of %s: %w", k.gvk.Kind, err)
	}
	fieldManagers.Store(name, made)
	return made, nil
}

type noDefaults struct{}

func (noDefaults) Default(runtime.Object) {}

// resetFields returns the fields that a write to a part cannot set, and therefore cannot own.
func resetFields(k *servedKind, what part) map[fieldpath.APIVersion]fieldpath.Filter {
	other := "status"
	if what == statusPart {
		other = "spec"
	}
	switch {
	case !k.hasStatus:
		return nil
	case k.custom != nil:
		return resetOwn(k, what)
	}
	return map[fieldpath.APIVersion]fieldpath.Filter{
		fieldpath.APIVersion(k.gvk.GroupVersion().String()): fieldpath.NewExcludeSetFilter(fieldpath.NewSet(fieldpath.MakePathOrDie(other))),
	}
}

// record makes the manager of a write the owner of its fields.
func (o *managedFields) record(k *servedKind, what part, obj, old store.Object, manager string) error {
	fields, err := managerOf(k, what)
	if err != nil {
		return err
	}
	live := runtime.Object(k.newObject())
	if old != nil {
		live = k.presented(old)
	}
	updated := fields.UpdateNoErrors(live, k.presented(obj), manager)
	var before []metav1.ManagedFieldsEntry
	if old != nil {
		before = old.GetManagedFields()
	}
	obj.SetManagedFields(o.timed(updated.(store.Object).GetManagedFields(), before))
	if old != nil && sameButTimes(obj, old) {
		obj.SetManagedFields(before)
	}
	return nil
}

// sameButTimes reports whether a write changes only the times at which fields were set; such a
// write has no effect.
func sameButTimes(obj, old store.Object) bool {
	entries := obj.GetManagedFields()
	defer obj.SetManagedFields(entries)
	before := old.GetManagedFields()
	if len(entries) != len(before) {
		return false
	}
	untimed := slices.Clone(entries)
	for i := range untimed {
		untimed[i].Time = before[i].Time
	}
	obj.SetManagedFields(untimed)
	return equality.Semantic.DeepEqual(obj, old)
}

// timed sets the store's time in the entries that a write made or changed, because the library uses
// the machine's clock.
func (o *managedFields) timed(entries, before []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	known := map[string]*metav1.Time{}
	for _, e := range before {
		known[entryName(e)] = e.Time
	}
	now := metav1.NewTime(o.now()).Rfc3339Copy()
	for i := range entries {
		if at, ok := known[entryName(entries[i])]; entries[i].Time != nil && (!ok || !at.Equal(entries[i].Time)) {
			entries[i].Time = &now
		}
	}
	return entries
}

func entryName(e metav1.ManagedFieldsEntry) string {
	return e.Manager + "\x00" + string(e.Operation) + "\x00" + e.APIVersion + "\x00" + e.Subresource
}
