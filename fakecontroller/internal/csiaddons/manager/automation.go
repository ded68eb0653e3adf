package manager

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/kinds"
	"github.com/csisim/csisim/internal/world/addons/capability"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// feature is an operation for which annotations create cron jobs. A-PVC-1
type feature struct {
	// The prefix of the annotations. It is also the suffix of cron job names, in the order of
	// storage classes.
	name       string
	capability string // prefix of the names of the capabilities
	kind       cronKind
	// forgets means that a claim without a schedule loses the annotation with its cron job's name.
	forgets bool
}

// features, in the order in which they are processed. A-PVC-2
var features = []feature{
	{name: "keyrotation", capability: "encryption_key_rotation.", kind: keyRotationCron},
	{name: "reclaimspace", capability: "reclaim_space.", kind: reclaimSpaceCron, forgets: true},
}

// The annotations. A-PVC-1
func (f feature) schedule() string { return f.name + ".csiaddons.openshift.io/schedule" }
func (f feature) enable() string   { return f.name + ".csiaddons.openshift.io/enable" }
func (f feature) cronJob() string  { return f.name + ".csiaddons.openshift.io/cronjob" }

const (
	stateAnnotation = "csiaddons.openshift.io/state"
	stateManaged    = "managed"
)

// managed reports whether the program may change a cron job. A-PVC-1
func managed(c cronObject) bool {
	state, has := c.GetAnnotations()[stateAnnotation]
	return !has || state == stateManaged
}

// The precedence of schedules. A-MGR-1
const (
	byClaim = "pvc"
	byClass = "storageclass"
)

// startAutomation runs the controller that makes cron jobs for claims. A-PVC-6
func (m *Manager) startAutomation() {
	sync, classed := m.syncClaim, m.claimsThatDiffer
	if m.opts.SchedulePrecedence == byClass {
		sync, classed = m.syncClaimByClass, m.claimsOf
	}
	queue := workqueue.New("claims", m.backoff(), m.Go, sync)
	watch(m, "claims", func(e store.Event[*corev1.PersistentVolumeClaim]) {
		if e.Type != store.Modified || annotationsDiffer(e.Old, e.Object) {
			queue.Add(store.KeyOf(e.Object))
		}
	})
	watch(m, "storage classes", func(e store.Event[*storagev1.StorageClass]) {
		if e.Type == store.Modified && !annotationsDiffer(e.Old, e.Object) {
			return
		}
		if e.Old != nil {
			classed(e.Old, queue.Add)
		}
		classed(e.Object, queue.Add)
	})
	for _, f := range features {
		m.follow("cron jobs for "+f.name, f.kind.cron().Of(), func(e store.Event[store.Object]) {
			if e.Type == store.Modified && m.opts.SchedulePrecedence != byClass && !annotationsDiffer(e.Old, e.Object) {
				return
			}
			if of := metav1.GetControllerOf(e.Object); of != nil && of.Kind == "PersistentVolumeClaim" {
				queue.Add(store.Key{Namespace: e.Object.GetNamespace(), Name: of.Name})
			}
		})
	}
}

// annotationsDiffer reports whether a relevant annotation has changed. A-PVC-6
func annotationsDiffer(old, obj metav1.Object) bool {
	for _, f := range features {
		for _, key := range []string{f.schedule(), f.enable()} {
			was, had := old.GetAnnotations()[key]
			is, has := obj.GetAnnotations()[key]
			if was != is || had != has {
				return true
			}
		}
	}
	return false
}

// claimsOf are the claims of a class. A-PVC-6
func (m *Manager) claimsOf(class *storagev1.StorageClass, add func(store.Key)) {
	for claim := range store.List[*corev1.PersistentVolumeClaim](m.Cache, "") {
		if name := claim.Spec.StorageClassName; name != nil && *name == class.Name {
			add(store.KeyOf(claim))
		}
	}
}

// claimsThatDiffer adds the claims of the namespace that have another schedule because of a class.
// A-PVC-6
func (m *Manager) claimsThatDiffer(class *storagev1.StorageClass, add func(store.Key)) {
	m.claimsOf(class, func(key store.Key) {
		claim, _ := component.Cached[*corev1.PersistentVolumeClaim](m.Component, key)
		for _, f := range features {
			for _, name := range []string{f.schedule(), f.enable()} {
				wanted, has := class.Annotations[name]
				if own, owns := claim.Annotations[name]; has && (!owns || own != wanted) {
					add(key)
				}
			}
		}
	})
}

// newCronJob returns the cron job of a claim. A-PVC-3, A-PVC-5
func (f feature) newCronJob(claim *corev1.PersistentVolumeClaim, name, schedule string) cronObject {
	c := f.kind.cron()
	c.SetName(name)
	c.SetNamespace(claim.Namespace)
	c.SetAnnotations(map[string]string{stateAnnotation: stateManaged})
	c.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(claim, corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"))})
	c.Shared().Spec = automaticSpec(claim.Name, schedule)
	return c
}

func automaticSpec(claim, schedule string) (spec kinds.CronJobSpec) {
	failed, succeeded := int32(1), int32(3)
	spec.Schedule, spec.FailedJobsHistoryLimit, spec.SuccessfulJobsHistoryLimit = schedule, &failed, &succeeded
	spec.JobTemplate.Spec.Target.Claim = claim
	spec.JobTemplate.Spec.BackoffLimit, spec.JobTemplate.Spec.RetryDeadlineSeconds = defaultBackoffLimit, defaultRetryDeadline
	return spec
}

// hasCapability reports whether a connected sidecar of the driver has a capability of the feature.
// A-PVC-2
func (m *Manager) hasCapability(driver string, f feature) bool {
	for _, c := range m.pool {
		if c.driver != driver {
			continue
		}
		for _, has := range c.capabilities {
			if strings.HasPrefix(capability.Name(has), f.capability) {
				return true
			}
		}
	}
	return false
}

// watch calls f for every event of a built-in kind.
func watch[T store.Object](m *Manager, name string, f func(store.Event[T])) {
	m.Go("informer of "+name, func(p *kernel.Process) {
		events := component.Watch[T](m.Component, p)
		for {
			for e, ok := events.Next(); ok; e, ok = events.Next() {
				f(e)
			}
			p.Wait("changes of "+name, func() bool { return events.Len() > 0 })
		}
	})
}
