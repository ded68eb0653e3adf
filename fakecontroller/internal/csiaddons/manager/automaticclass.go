package manager

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/kinds"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// syncClaimByClass creates the cron jobs that a claim's class requires, regardless of other
// schedules. A-PVC-5
func (m *Manager) syncClaimByClass(p *kernel.Process, key store.Key) error {
	claim, _, err := m.automaticClaim(key)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case claim == nil || err != nil:
		return err
	case claim.Spec.StorageClassName == nil || *claim.Spec.StorageClassName == "":
		return nil
	}
	class, ok := component.Cached[*storagev1.StorageClass](m.Component, store.Key{Name: *claim.Spec.StorageClassName})
	if !ok {
		return nil
	}
	for _, f := range features {
		if err := m.followClass(p, f, claim, class); err != nil {
			return err
		}
	}
	return nil
}

// followClass handles one feature. The schedule is not parsed. A-PVC-5
func (m *Manager) followClass(p *kernel.Process, f feature, claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) error {
	schedule, name := class.Annotations[f.schedule()], claim.Name+"-"+f.name
	wanted := schedule != "" && class.Annotations[f.enable()] != "false"
	there, err := f.kind.get(m.Component, store.Key{Namespace: claim.Namespace, Name: name})
	switch {
	case apierrors.IsNotFound(err):
		if !wanted {
			return nil
		}
		return unlessExists(kinds.Create(p, m.Component, f.newCronJob(claim, name, schedule)))
	case err != nil:
		return err
	case !managed(there):
		return nil
	case !wanted:
		return ignoreNotFound(kinds.Delete(p, m.Component, there))
	case there.Shared().Spec.Schedule == schedule:
		return nil
	}
	m.reschedule(there, claim.Name, schedule)
	return kinds.Update(p, m.Component, there)
}

// reschedule changes only the schedule.
func (m *Manager) reschedule(c cronObject, claim, schedule string) {
	annotations := map[string]string{}
	for key, value := range c.GetAnnotations() { // any order: a copy
		annotations[key] = value
	}
	annotations[stateAnnotation] = stateManaged
	c.SetAnnotations(annotations)
	spec, wanted := &c.Shared().Spec, automaticSpec(claim, schedule)
	spec.Schedule, spec.JobTemplate = wanted.Schedule, wanted.JobTemplate
	spec.FailedJobsHistoryLimit, spec.SuccessfulJobsHistoryLimit = wanted.FailedJobsHistoryLimit, wanted.SuccessfulJobsHistoryLimit
}

func unlessExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
