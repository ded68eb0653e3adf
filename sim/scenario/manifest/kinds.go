package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/csisim/csisim/sim/legacy"
	"github.com/csisim/csisim/sim/scenario/strict"
)

// kubectl reads manifests with the rules of YAML 1.1 and takes a key without a value for one left out.
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

// known are the kinds that can be read: the built-in ones and those of snapshots.
var known = func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, snapshotv1.AddToScheme, groupv1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	s.AddKnownTypes(legacy.GroupVersion, &legacy.CSIDriver{}, &legacy.CSINodeInfo{})
	return s
}()

// customGroups are served in many storage clusters by custom resources, of which there is no Go type here.
var customGroups = map[string]string{
	"csiaddons.openshift.io":           "CSI-Addons",
	"replication.storage.openshift.io": "CSI-Addons replication",
}

// current is the version in which a kind is kept: what manifests say of a group snapshot is the same in all
// its versions.
func current(kind schema.GroupVersionKind) schema.GroupVersionKind {
	if kind.Group == groupv1.GroupName && (kind.Version == "v1beta1" || kind.Version == "v1beta2") {
		kind.Version = "v1"
	}
	return kind
}

// newObject makes an empty object of the kind, or reports why there is none.
func newObject(n *strict.Node, kind schema.GroupVersionKind) (runtime.Object, bool) {
	typed, err := known.New(kind)
	if err == nil && isObject(typed) {
		return typed, true
	}
	apiVersion, name := kind.GroupVersion().String(), kind.Kind
	found := fmt.Sprintf("kind %q of %s", name, apiVersion)
	at := n.Value("kind")
	if what, ok := customGroups[kind.Group]; ok {
		at.Report(found, "a built-in kind, since "+what+" objects are not read from manifests")
		return nil, false
	}
	if err == nil {
		at.Report(found, "a kind that is stored, with metadata")
		return nil, false
	}
	if versions := versionsOf(name); len(versions) > 0 {
		n.Value("apiVersion").ReportUnknown(fmt.Sprintf("version %q", apiVersion), apiVersion,
			fmt.Sprintf("%s for kind %s", strings.Join(versions, " or "), name), nil)
		return nil, false
	}
	at.ReportUnknown(fmt.Sprintf("kind %q", name), name,
		fmt.Sprintf("a built-in kind (no kind %q is registered for version %q)", name, apiVersion), candidates(kind.GroupVersion()))
	return nil, false
}

func isObject(typed runtime.Object) bool {
	_, ok := typed.(metav1.Object)
	return ok
}

// versionsOf lists the versions that have a kind of this name, by group, the most stable first.
func versionsOf(kind string) []string {
	var found []schema.GroupVersion
	for gvk, t := range known.AllKnownTypes() {
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

// candidates are the kinds that a mistyped one can have meant: the version's own or, of a version that
// is not known either, all.
func candidates(within schema.GroupVersion) []string {
	kinds := storedKinds(known.KnownTypes(within))
	if len(kinds) > 0 {
		return kinds
	}
	for _, version := range known.PrioritizedVersionsAllGroups() {
		kinds = append(kinds, storedKinds(known.KnownTypes(version))...)
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
