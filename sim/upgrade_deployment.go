package sim

import (
	"cmp"
	"slices"

	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/world/store"
)

// firstForm is an object that a release changed, in the form of the first release.
type firstForm struct {
	at     cluster.Object
	object store.Object
}

// deploy applies the objects of a release, as kubectl apply does with its manifests: the release's
// own objects, and objects of the first release that other releases have changed.
func (c *Simulation) deploy(d *driver, version string) error {
	if version == cmp.Or(d.deployed, d.first()) {
		return nil
	}
	var own []cluster.Object
	for _, o := range d.Deployments[version].Objects {
		at, err := c.remember(d, o)
		if err == nil {
			err = c.applyRelease(at, o)
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
		if err := c.applyRelease(was.at, was.object); err != nil {
			return err
		}
	}
	d.deployed = version
	return nil
}

// remember keeps the form that an object of the first release has.
func (c *Simulation) remember(d *driver, o store.Object) (at cluster.Object, err error) {
	at.Resource, err = kind.ResourceOf(c.World.Store, o)
	if err != nil {
		return at, err
	}
	at.Key = store.KeyOf(o)
	if at.Resource.Namespaced && at.Key.Namespace == "" {
		at.Key.Namespace = metav1.NamespaceDefault
	}
	live, exists := c.World.Store.GetObject(at.Resource, at.Key)
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
	if c.objects.Has(at) {
		return at, nil
	}
	return at, c.objects.Adopt(at, first) // the deployment of the first release has applied it
}

// applyRelease applies an object. If the API refuses to change a CSIDriver object or a class, the
// object is deleted and created, as kubectl replace --force does.
func (c *Simulation) applyRelease(at cluster.Object, o store.Object) error {
	_, err := c.objects.Apply(o)
	if !apierrors.IsInvalid(err) || !isReplaced(o) {
		return err
	}
	if _, there := c.World.Store.GetObject(at.Resource, at.Key); !there {
		return err
	}
	c.World.Trace.Note("", "the API refuses a change, the object is deleted and created: %v", err)
	if _, err := c.World.Store.DeleteObject(at.Resource, at.Key); err != nil {
		return err
	}
	_, err = c.objects.Apply(o)
	return err
}

// isReplaced reports whether releases replace an object with immutable fields: nothing is lost with
// it.
func isReplaced(o store.Object) bool {
	switch o.(type) {
	case *storagev1.CSIDriver, *storagev1.StorageClass, *storagev1.VolumeAttributesClass:
		return true
	}
	return false
}
