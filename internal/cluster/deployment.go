package cluster

import (
	"slices"

	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/store"
)

// Deployment holds the objects of a driver's deployment.
type Deployment struct {
	World   *component.World
	Objects *Objects
	// Version is the release to which the objects belong.
	Version string

	firstForms []firstForm
}

// firstForm is an object that a release changed, in the form of the first release.
type firstForm struct {
	at     Object
	object store.Object
}

// Deploy applies the objects of a release, as kubectl apply does with its manifests: the release's
// own objects, and objects of the first release that other releases have changed.
func (d *Deployment) Deploy(version string, objects []store.Object) error {
	if version == d.Version {
		return nil
	}
	var own []Object
	for _, o := range objects {
		at, err := d.remember(o)
		if err == nil {
			err = d.apply(at, o)
		}
		if err != nil {
			return err
		}
		own = append(own, at)
	}
	for _, was := range d.firstForms {
		if slices.Contains(own, was.at) {
			continue
		}
		if err := d.apply(was.at, was.object); err != nil {
			return err
		}
	}
	d.Version = version
	return nil
}

// remember keeps an object in the form of the first release.
func (d *Deployment) remember(o store.Object) (at Object, err error) {
	at.Resource, err = kind.ResourceOf(d.World.Store, o)
	if err != nil {
		return at, err
	}
	at.Key = store.KeyOf(o)
	if at.Resource.Namespaced && at.Key.Namespace == "" {
		at.Key.Namespace = metav1.NamespaceDefault
	}
	live, exists := d.World.Store.GetObject(at.Resource, at.Key)
	if !exists || slices.ContainsFunc(d.firstForms, func(was firstForm) bool { return was.at == at }) {
		return at, nil
	}
	first := live.DeepCopyObject().(store.Object)
	first.SetUID("")
	first.SetResourceVersion("")
	first.SetGeneration(0)
	first.SetCreationTimestamp(metav1.Time{})
	first.SetManagedFields(nil)
	d.firstForms = append(d.firstForms, firstForm{at, first})
	if d.Objects.Has(at) {
		return at, nil
	}
	return at, d.Objects.Adopt(at, first) // the deployment of the first release has applied it
}

// apply applies an object. If the API refuses to change a CSIDriver object or a class, the
// object is deleted and created, as kubectl replace --force does.
func (d *Deployment) apply(at Object, o store.Object) error {
	_, err := d.Objects.Apply(o)
	if !apierrors.IsInvalid(err) || !isReplaced(o) {
		return err
	}
	if _, there := d.World.Store.GetObject(at.Resource, at.Key); !there {
		return err
	}
	d.World.Trace.Note("", "the API refuses a change, the object is deleted and created: %v", err)
	if _, err := d.World.Store.DeleteObject(at.Resource, at.Key); err != nil {
		return err
	}
	_, err = d.Objects.Apply(o)
	return err
}

// isReplaced reports whether releases replace an object with immutable fields. These objects have
// no state that could be lost.
func isReplaced(o store.Object) bool {
	switch o.(type) {
	case *storagev1.CSIDriver, *storagev1.StorageClass, *storagev1.VolumeAttributesClass:
		return true
	}
	return false
}
