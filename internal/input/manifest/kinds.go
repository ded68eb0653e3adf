package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/legacy"
)

// kubectl reads manifests with the rules of YAML 1.1, and ignores a key without a value.
var kubectl = &strict.Dialect{
	LooseBooleans: true,
	NullIsUnset:   true,
	Wants: map[reflect.Type]string{
		reflect.TypeFor[resource.Quantity]():  `a quantity such as "1Gi" or "500m"`,
		reflect.TypeFor[intstr.IntOrString](): `a whole number or a string, such as 8080 or "http"`,
		reflect.TypeFor[metav1.Time]():        `a time such as "2024-05-01T12:00:00Z"`,
		reflect.TypeFor[metav1.MicroTime]():   `a time such as "2024-05-01T12:00:00.000000Z"`,
		reflect.TypeFor[metav1.Duration]():    `a duration such as "90s"`,
	},
}

// known are the kinds with Go types: the built-in kinds and the kinds of snapshots. The built-in
// kinds are in the scheme that client-go fills when the program starts.
var known = sync.OnceValue(func() schemes {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{apiextensionsv1.AddToScheme, snapshotv1.AddToScheme, groupv1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	s.AddKnownTypes(legacy.GroupVersion, &legacy.CSIDriver{}, &legacy.CSINodeInfo{})
	return schemes{scheme.Scheme, s}
})

// current returns the stored version of a kind, because manifests of a group snapshot are the same
// in all its versions.
func current(kind schema.GroupVersionKind) schema.GroupVersionKind {
	if kind.Group == groupv1.GroupName && (kind.Version == "v1beta1" || kind.Version == "v1beta2") {
		kind.Version = "v1"
	}
	return kind
}

// newObject creates an empty object of the kind. It is unstructured if a definition may add the
// kind. It is nil if there is no such kind.
func newObject(n *strict.Node, kind schema.GroupVersionKind) runtime.Object {
	typed, err := known().newObject(kind)
	switch {
	case err == nil && isObject(typed):
		return typed
	case err == nil:
		n.Value("kind").Report(fmt.Sprintf("kind %q of %s", kind.Kind, kind.GroupVersion()), "a kind that is stored, with metadata")
		return nil
	case isDefinable(kind.Group):
		return &unstructured.Unstructured{}
	}
	field, m := noKind(kind)
	n.Value(field).ReportUnknown(m.found, m.word, m.want, m.known)
	return nil
}

// isDefinable reports whether definitions can add kinds to the group. The group must be a domain
// and not a built-in group.
func isDefinable(group string) bool {
	return strings.Contains(group, ".") && !known().haveGroup(group)
}

// mismatch is an unknown word with its alternatives.
type mismatch struct {
	found, word, want string
	known             []string
}

// noKind returns the wrong field of a kind, apiVersion or kind, and the alternatives.
func noKind(kind schema.GroupVersionKind) (field string, m mismatch) {
	apiVersion, name := kind.GroupVersion().String(), kind.Kind
	if versions := versionsOf(name); len(versions) > 0 {
		return "apiVersion", mismatch{
			found: fmt.Sprintf("version %q", apiVersion), word: apiVersion,
			want: fmt.Sprintf("%s for kind %s", strings.Join(versions, " or "), name),
		}
	}
	return "kind", mismatch{
		found: fmt.Sprintf("kind %q", name), word: name,
		want:  fmt.Sprintf("a built-in kind (no kind %q is registered for version %q)", name, apiVersion),
		known: candidates(kind.GroupVersion()),
	}
}

func isObject(typed runtime.Object) bool {
	_, ok := typed.(metav1.Object)
	return ok
}

// versionsOf lists the versions with a kind of this name, by group, the most stable first.
func versionsOf(kind string) []string {
	var found []schema.GroupVersion
	for gvk, t := range known().all() {
		if gvk.Kind == kind && gvk.Version != runtime.APIVersionInternal && isStored(t) {
			found = append(found, gvk.GroupVersion())
		}
	}
	slices.SortFunc(found, func(a, b schema.GroupVersion) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), -version.CompareKubeAwareVersionStrings(a.Version, b.Version))
	})
	versions := make([]string, len(found))
	for i, version := range found {
		versions[i] = version.String()
	}
	return versions
}

// candidates returns the kinds that a mistyped kind may mean: those of the version or, if the
// version is unknown, all.
func candidates(within schema.GroupVersion) []string {
	kinds := storedKinds(known().in(within))
	if len(kinds) > 0 {
		return kinds
	}
	for _, version := range known().versions() {
		kinds = append(kinds, storedKinds(known().in(version))...)
	}
	return kinds
}

func storedKinds(types map[string]reflect.Type) []string {
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(types)) {
		if isStored(types[kind]) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func isStored(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[metav1.Object]())
}
