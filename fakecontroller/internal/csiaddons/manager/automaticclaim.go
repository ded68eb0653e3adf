package manager

import (
	"errors"
	"fmt"
	"iter"

	"github.com/robfig/cron/v3"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/kinds"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// fallbackSchedule replaces a schedule that does not parse. A-PVC-3
const fallbackSchedule = "@weekly"

var errNotBound = errors.New("PVC is not in bound state")

// syncClaim creates the cron jobs that the annotations of a claim, its namespace or its class
// request. A-PVC-2
func (m *Manager) syncClaim(p *kernel.Process, key store.Key) error {
	claim, driver, err := m.automaticClaim(key)
	if claim == nil || err != nil {
		return err
	}
	for _, f := range features {
		a := &automaticPass{Manager: m, process: p, feature: f, driver: driver, claim: claim}
		err = errors.Join(err, a.run())
		claim = a.claim
	}
	return err
}

// automaticClaim returns a claim that may have cron jobs, with its driver; nil if it may not have
// any. An unbound claim is retried.
func (m *Manager) automaticClaim(key store.Key) (*corev1.PersistentVolumeClaim, string, error) {
	claim, ok := component.Cached[*corev1.PersistentVolumeClaim](m.Component, key)
	switch {
	case !ok || claim.DeletionTimestamp != nil:
		return nil, "", nil
	case claim.Status.Phase != corev1.ClaimBound:
		return nil, "", errNotBound
	}
	at := store.Key{Name: claim.Spec.VolumeName}
	volume, ok := component.Cached[*corev1.PersistentVolume](m.Component, at)
	switch {
	case !ok:
		return nil, "", kinds.NotCached(corev1.SchemeGroupVersion.WithKind("PersistentVolume"), at)
	case volume.Spec.CSI == nil:
		return nil, "", nil
	}
	return claim, volume.Spec.CSI.Driver, nil
}

// automaticPass is a pass over one feature of a claim.
type automaticPass struct {
	*Manager
	process *kernel.Process
	feature
	driver string
	claim  *corev1.PersistentVolumeClaim
}

func (a *automaticPass) run() error {
	child, err := a.child()
	if err != nil || child != nil && !managed(child) {
		return err
	}
	off, err := a.disabled()
	if err != nil {
		return err
	}
	schedule := ""
	if !off {
		if schedule, err = a.wanted(); err != nil {
			return err
		}
	}
	switch {
	case off:
		return a.remove(child)
	case schedule == "":
		if err := a.remove(child); err != nil || !a.forgets {
			return err
		}
		if _, has := a.claim.Annotations[a.cronJob()]; !has {
			return nil
		}
		return a.annotate(map[string]string{a.cronJob(): ""})
	case child != nil:
		// Written without a comparison: because of the API's defaults it always differs. A-PVC-3
		child.Shared().Spec = automaticSpec(a.claim.Name, schedule)
		if err := kinds.Update(a.process, a.Component, child); err != nil {
			return err
		}
		return a.annotate(map[string]string{a.schedule(): schedule})
	}
	name := fmt.Sprintf("%s-%d", a.claim.Name, a.process.Now().Unix())
	if err := a.annotate(map[string]string{a.cronJob(): name, a.schedule(): schedule}); err != nil {
		return err
	}
	return kinds.Create(a.process, a.Component, a.newCronJob(a.claim, name, schedule))
}

// child returns the claim's cron job, and deletes any further ones. A-PVC-3
func (a *automaticPass) child() (first cronObject, err error) {
	for c := range a.children() {
		if first == nil {
			first = c
		} else if err := a.remove(c); err != nil {
			return nil, err
		}
	}
	return first, nil
}

func (a *automaticPass) children() iter.Seq[cronObject] {
	return func(yield func(cronObject) bool) {
		for c := range a.kind.list(a.Component, a.claim.Namespace) {
			of := metav1.GetControllerOf(c)
			if of != nil && of.Kind == "PersistentVolumeClaim" && of.Name == a.claim.Name && !yield(c) {
				return
			}
		}
	}
}

func (a *automaticPass) remove(child cronObject) error {
	if child == nil {
		return nil
	}
	return ignoreNotFound(kinds.Delete(a.process, a.Component, child))
}

// annotate writes annotations of the claim; an empty value removes an annotation.
func (a *automaticPass) annotate(annotations map[string]string) error {
	claim, err := component.PatchMetadata(a.process, a.Component, store.KeyOf(a.claim), func(c *corev1.PersistentVolumeClaim) {
		if c.Annotations == nil {
			c.Annotations = map[string]string{}
		}
		for key, value := range annotations { // any order will do: each is written separately
			if c.Annotations[key] = value; value == "" {
				delete(c.Annotations, key)
			}
		}
	})
	if err == nil {
		a.claim = claim
	}
	return err
}

// disabled reports whether claim, namespace or class forbid the feature, in this order. A-PVC-2
func (a *automaticPass) disabled() (bool, error) {
	if a.claim.Annotations[a.enable()] == "false" {
		return true, nil
	}
	namespace, err := a.namespace()
	if err != nil || namespace.Annotations[a.enable()] == "false" {
		return err == nil, err
	}
	class, err := a.class()
	return class != nil && class.Annotations[a.enable()] == "false", err
}

// wanted returns the schedule of the claim. If it has none, it returns the schedule of its
// namespace, then the schedule of its class; empty if there is none. The annotation of a namespace
// counts only if the driver has the feature now. A-PVC-2, A-PVC-4
func (a *automaticPass) wanted() (string, error) {
	if schedule := a.parsed(a.claim); schedule != "" {
		return schedule, nil
	}
	namespace, err := a.namespace()
	if err != nil {
		return "", err
	}
	if schedule := a.parsed(namespace); schedule != "" && a.hasCapability(a.driver, a.feature) {
		return schedule, nil
	}
	class, err := a.class()
	if class == nil {
		return "", err
	}
	return a.parsed(class), nil
}

// parsed returns the schedule in an object's annotations; empty for none. A-PVC-3
func (f feature) parsed(obj metav1.Object) string {
	schedule, has := obj.GetAnnotations()[f.schedule()]
	if !has {
		return ""
	}
	if _, err := cron.ParseStandard(schedule); err != nil {
		return fallbackSchedule
	}
	return schedule
}

// namespace is read live. A-MGR-4
func (a *automaticPass) namespace() (*corev1.Namespace, error) {
	return component.Live[*corev1.Namespace](a.process, a.Component, store.Key{Name: a.claim.Namespace})
}

// class returns the claim's class; nil if the claim names none. A class that does not exist is an
// error. A-PVC-2
func (a *automaticPass) class() (*storagev1.StorageClass, error) {
	name := a.claim.Spec.StorageClassName
	if name == nil || *name == "" {
		return nil, nil
	}
	key := store.Key{Name: *name}
	class, ok := component.Cached[*storagev1.StorageClass](a.Component, key)
	if !ok {
		return nil, kinds.NotCached(storagev1.SchemeGroupVersion.WithKind("StorageClass"), key)
	}
	return class, nil
}
