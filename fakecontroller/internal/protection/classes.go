package protection

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
	"github.com/csisim/csisim/internal/world/workqueue"
)

const classFinalizer = "kubernetes.io/vac-protection"

// Classes protects VolumeAttributesClasses that volumes or claims name. C-VACP-1
type Classes struct {
	*component.Component
	queue *workqueue.Queue[store.Key]
}

// StartClasses runs the VAC protection controller.
func StartClasses(w *component.World) *Classes {
	c := &Classes{Component: w.Start("vac-protection-controller", "")}
	c.queue = workqueue.New("classes", workqueue.Default, c.Go, c.sync)
	c.Inform(component.Informers{
		News: "classes to protect or free",
		Sources: []component.Source{
			component.On(func(e store.Event[*storagev1.VolumeAttributesClass]) {
				if e.Type != store.Deleted {
					c.queue.Add(store.KeyOf(e.Object))
				}
			}),
			component.On(func(e store.Event[*corev1.PersistentVolume]) { released(c, e, namedByVolume) }),
			component.On(func(e store.Event[*corev1.PersistentVolumeClaim]) { released(c, e, namedByClaim) }),
		},
	})
	return c
}

// released queues the classes that an object has stopped using.
func released[T store.Object](c *Classes, e store.Event[T], namedBy func(T) []string) {
	var before, now []string
	switch e.Type {
	case store.Deleted:
		before = namedBy(e.Object)
	case store.Modified:
		before, now = namedBy(e.Old), namedBy(e.Object)
	}
	for _, name := range before {
		if !slices.Contains(now, name) {
			c.queue.Add(store.Key{Name: name})
		}
	}
}

func namedByVolume(pv *corev1.PersistentVolume) []string {
	return names(pv.Spec.VolumeAttributesClassName)
}

func namedByClaim(pvc *corev1.PersistentVolumeClaim) []string {
	all := names(pvc.Spec.VolumeAttributesClassName, pvc.Status.CurrentVolumeAttributesClassName)
	if s := pvc.Status.ModifyVolumeStatus; s != nil {
		all = append(all, names(&s.TargetVolumeAttributesClassName)...)
	}
	return all
}

func names(fields ...*string) []string {
	var all []string
	for _, f := range fields {
		if f != nil && *f != "" {
			all = append(all, *f)
		}
	}
	return all
}

func (c *Classes) sync(p *kernel.Process, key store.Key) error {
	class, ok := component.Cached[*storagev1.VolumeAttributesClass](c.Component, key)
	switch {
	case !ok || !needsWork(class, classFinalizer):
		return nil
	case class.DeletionTimestamp == nil:
		return writeFinalizers(p, c.Component, class, append(slices.Clone(class.Finalizers), classFinalizer))
	case c.inUse(class.Name):
		return nil
	default:
		return writeFinalizers(p, c.Component, class, volume.WithoutFinalizers(class.Finalizers, classFinalizer))
	}
}

func (c *Classes) inUse(name string) bool {
	for pv := range store.List[*corev1.PersistentVolume](c.Cache, "") {
		if slices.Contains(namedByVolume(pv), name) {
			return true
		}
	}
	for pvc := range store.List[*corev1.PersistentVolumeClaim](c.Cache, "") {
		if slices.Contains(namedByClaim(pvc), name) {
			return true
		}
	}
	return false
}
