package expect

import (
	"fmt"
	"slices"
	"strings"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/input/partial"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/store"
)

// Reference names objects by kind and name, like kubectl: pod: web. In the name * matches any text.
// A PersistentVolume, VolumeAttachment or VolumeSnapshot can be named by its claim: pv: pvc/data. A
// VolumeSnapshotContent can be named by its snapshot: vsc: vs/data.
type Reference struct {
	// Resource is the resource of the objects. The resource of a defined kind may come from another
	// store; In returns the resource of a given store.
	Resource  *store.Resource
	Namespace string
	Name      string

	Word string // the resource as in the source: pod, po, Pod
}

// claimPrefix begins the name of a volume, attachment or snapshot that is named by its claim.
const claimPrefix = "pvc/"

// snapshotPrefix begins the name of a snapshot content that is named by its snapshot.
const snapshotPrefix = "vs/"

// HasClaim reports whether objects of the resource can be named by their claim.
func (r Reference) HasClaim() bool {
	return slices.Contains([]string{"PersistentVolume", "VolumeAttachment", "VolumeSnapshot"}, r.Resource.GVK.Kind)
}

// In returns the resource in a store. It is false if the kind is not defined there, or not yet.
func (r Reference) In(s *store.Store) (*store.Resource, bool) {
	if kind.DefinitionOf(r.Resource) == nil {
		return r.Resource, true
	}
	return s.ResourceFor(r.Resource.GVK)
}

// KindsOf returns the kinds that a document can name, from its Words.
func KindsOf(n *strict.Node) Kinds {
	kinds, _ := n.Words().(Kinds)
	return kinds
}

// Take removes the keys of the reference from a map and leaves the rest to the caller.
func (r *Reference) Take(n *strict.Node) (rest *strict.Node) {
	var found []string
	for _, entry := range objectsNamed(n) {
		found = append(found, entry.Name)
		r.Resource, _ = KindsOf(n).Named(entry.Name)
		r.Word = entry.Name
		entry.Value.Decode(&r.Name)
	}
	if len(found) > 1 {
		n.Report(fmt.Sprintf("%d objects (%s)", len(found), strings.Join(found, ", ")), "one object")
	}
	if r.Resource == nil {
		return n
	}
	r.Namespace = ""
	if r.Resource.Namespaced {
		r.Namespace = corev1.NamespaceDefault
		if namespace := n.Value("namespace"); namespace != nil {
			namespace.Decode(&r.Namespace)
		}
		found = append(found, "namespace")
	}
	return n.Without(found...)
}

// objectsNamed returns the keys that name an object. If another reference is beside it, namespace
// is the namespace of that reference.
func objectsNamed(n *strict.Node) []strict.Entry {
	var named []strict.Entry
	for _, entry := range n.Entries() {
		if _, ok := KindsOf(n).Named(entry.Name); ok {
			named = append(named, entry)
		}
	}
	if len(named) > 1 {
		named = slices.DeleteFunc(named, func(e strict.Entry) bool { return e.Name == "namespace" })
	}
	return named
}

// ReferenceKeys returns the possible keys of a reference, for the schema of its parent.
func ReferenceKeys() map[string]any {
	properties := map[string]any{
		"namespace": map[string]any{"type": "string", "default": corev1.NamespaceDefault, "description": "The object's namespace."},
	}
	for name, res := range builtIn { // any order: the result is a map
		properties[name] = map[string]any{"type": "string", "description": "Name of the " + res.GVK.Kind + "; * stands for any text."}
	}
	return properties
}

// String returns kind and name: pod/web, pod/team-a/web.
func (r Reference) String() string {
	if r.Resource == nil {
		return "an object"
	}
	name := r.Name
	if r.Namespace != "" && r.Namespace != corev1.NamespaceDefault {
		name = r.Namespace + "/" + name
	}
	return r.Word + " " + name
}

// Many reports whether the name can match several objects.
func (r Reference) Many() bool {
	return strings.Contains(r.Name, "*") || r.ByClaim() || r.BySnapshot()
}

// BySnapshot reports whether a VolumeSnapshotContent is named by its snapshot.
func (r Reference) BySnapshot() bool {
	return r.Resource.GVK.Kind == "VolumeSnapshotContent" && strings.HasPrefix(r.Name, snapshotPrefix)
}

// ByClaim reports whether an object is named by its claim.
func (r Reference) ByClaim() bool { return strings.HasPrefix(r.Name, claimPrefix) }

// Find returns all existing objects of the reference.
func (r Reference) Find(s *store.Store) []store.Object {
	res, served := r.In(s)
	switch {
	case !served:
		return nil
	case !r.Many():
		if obj, ok := s.GetObject(res, store.Key{Namespace: r.Namespace, Name: r.Name}); ok {
			return []store.Object{obj}
		}
		return nil
	}
	var found []store.Object
	for obj := range s.ListObjects(res, r.Namespace) {
		if r.matches(s, obj) {
			found = append(found, obj)
		}
	}
	return found
}

func (r Reference) matches(s *store.Store, obj store.Object) bool {
	if content, is := obj.(*snapshotv1.VolumeSnapshotContent); is && r.BySnapshot() {
		of := content.Spec.VolumeSnapshotRef
		return claimFits(strings.TrimPrefix(r.Name, snapshotPrefix), of.Namespace, of.Name)
	}
	if !r.ByClaim() {
		return partial.Wildcard(r.Name, obj.GetName())
	}
	claim := strings.TrimPrefix(r.Name, claimPrefix)
	switch obj := obj.(type) {
	case *corev1.PersistentVolume:
		return isOfClaim(obj, claim)
	case *storagev1.VolumeAttachment:
		if obj.Spec.Source.PersistentVolumeName == nil {
			return false
		}
		pv, ok := store.Get[*corev1.PersistentVolume](s, store.Key{Name: *obj.Spec.Source.PersistentVolumeName})
		return ok && isOfClaim(pv, claim)
	case *snapshotv1.VolumeSnapshot:
		of := obj.Spec.Source.PersistentVolumeClaimName
		return of != nil && claimFits(claim, obj.Namespace, *of)
	}
	return false
}

func isOfClaim(pv *corev1.PersistentVolume, claim string) bool {
	bound := pv.Spec.ClaimRef
	return bound != nil && claimFits(claim, bound.Namespace, bound.Name)
}

// claimFits reports whether a claim or a snapshot has this name. A name without a namespace is in
// the default namespace.
func claimFits(named, namespace, name string) bool {
	if !strings.Contains(named, "/") {
		named = corev1.NamespaceDefault + "/" + named
	}
	return partial.Wildcard(named, namespace+"/"+name)
}

// Text returns the reference in one word, for Kinds.Reference.
func (r Reference) Text() string {
	if r.Namespace != "" && r.Namespace != corev1.NamespaceDefault {
		return r.Word + "/" + r.Namespace + "/" + r.Name
	}
	return r.Word + "/" + r.Name
}

// Reference reads kind and name, with the namespace between them unless it is the default one:
// pod/web, pvc/team-a/data, pv/pvc/data.
func (k Kinds) Reference(text string) (Reference, error) {
	word, name, ok := strings.Cut(text, "/")
	if !ok || name == "" {
		return Reference{}, fmt.Errorf(`%q is no object: give kind and name, such as "pod/web"`, text)
	}
	res, ok := k.Named(word)
	if !ok {
		nearest := ""
		if near := strict.Nearest(strings.ToLower(word), k.List()); near != "" {
			nearest = fmt.Sprintf("; did you mean %q?", near)
		}
		return Reference{}, fmt.Errorf("%q is no object: there is no kind %q%s", text, word, nearest)
	}
	ref := Reference{Resource: res, Name: name, Word: word}
	if !res.Namespaced {
		return ref, nil
	}
	ref.Namespace = corev1.NamespaceDefault
	if namespace, rest, ok := strings.Cut(name, "/"); ok && (!ref.ByClaim() || !ref.HasClaim()) {
		ref.Namespace, ref.Name = namespace, rest
	}
	return ref, nil
}
