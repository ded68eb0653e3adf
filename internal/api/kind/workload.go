package store

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// rulesOfWorkload are common to kinds that make pods.
func rulesOfWorkload[T Object](fill func(T), mistakes func(T) field.ErrorList, changes func(obj, old T) field.ErrorList) rules {
	return rules{
		fill:     func(obj Object) { fill(obj.(T)) },
		validate: func(obj Object) field.ErrorList { return mistakes(obj.(T)) },
		validateUpdate: func(obj, old Object) field.ErrorList {
			return append(mistakes(obj.(T)), changes(obj.(T), old.(T))...)
		},
	}
}

var (
	statefulSetRules = rulesOfWorkload(func(s *appsv1.StatefulSet) { fillStatefulSet(&s.Spec) }, checkStatefulSet, checkStatefulSetChange)
	deploymentRules  = rulesOfWorkload(func(d *appsv1.Deployment) { fillDeployment(&d.Spec) }, checkDeployment,
		func(d, old *appsv1.Deployment) field.ErrorList { return fixed(d.Spec.Selector, old.Spec.Selector) })
	replicaSetRules = rulesOfWorkload(func(r *appsv1.ReplicaSet) {
		setDefault(&r.Spec.Replicas, 1)
		fillPodSpec(&r.Spec.Template.Spec)
	}, checkReplicaSet, func(r, old *appsv1.ReplicaSet) field.ErrorList { return fixed(r.Spec.Selector, old.Spec.Selector) })
	daemonSetRules = rulesOfWorkload(func(d *appsv1.DaemonSet) { fillDaemonSet(&d.Spec) }, checkDaemonSet,
		func(d, old *appsv1.DaemonSet) field.ErrorList { return fixed(d.Spec.Selector, old.Spec.Selector) })
)

func fillStatefulSet(spec *appsv1.StatefulSetSpec) {
	setDefault(&spec.Replicas, 1)
	setDefault(&spec.RevisionHistoryLimit, 10)
	setEmpty(&spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	setEmpty(&spec.UpdateStrategy.Type, appsv1.RollingUpdateStatefulSetStrategyType)
	if spec.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		setDefault(&spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
		setDefault(&spec.UpdateStrategy.RollingUpdate.Partition, 0)
	}
	setDefault(&spec.PersistentVolumeClaimRetentionPolicy, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
	setEmpty(&spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	setEmpty(&spec.PersistentVolumeClaimRetentionPolicy.WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	fillPodSpec(&spec.Template.Spec)
	for i := range spec.VolumeClaimTemplates {
		claim := &spec.VolumeClaimTemplates[i]
		claim.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"))
		fillClaim(claim)
	}
}

func fillDeployment(spec *appsv1.DeploymentSpec) {
	setDefault(&spec.Replicas, 1)
	setDefault(&spec.RevisionHistoryLimit, 10)
	setDefault(&spec.ProgressDeadlineSeconds, 600)
	setEmpty(&spec.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
	if spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		setDefault(&spec.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
		setDefault(&spec.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
		setDefault(&spec.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	}
	fillPodSpec(&spec.Template.Spec)
}

func fillDaemonSet(spec *appsv1.DaemonSetSpec) {
	setDefault(&spec.RevisionHistoryLimit, 10)
	setEmpty(&spec.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		setDefault(&spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		setDefault(&spec.UpdateStrategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		setDefault(&spec.UpdateStrategy.RollingUpdate.MaxSurge, intstr.FromInt32(0))
	}
	fillPodSpec(&spec.Template.Spec)
}
