package store

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var (
	statefulSetRules = rules{fill: func(obj Object) { fillStatefulSet(&obj.(*appsv1.StatefulSet).Spec) }}
	deploymentRules  = rules{fill: func(obj Object) { fillDeployment(&obj.(*appsv1.Deployment).Spec) }}
	replicaSetRules  = rules{fill: func(obj Object) {
		spec := &obj.(*appsv1.ReplicaSet).Spec
		setDefault(&spec.Replicas, 1)
		fillPodSpec(&spec.Template.Spec)
	}}
	daemonSetRules = rules{fill: func(obj Object) { fillDaemonSet(&obj.(*appsv1.DaemonSet).Spec) }}
	jobRules       = rules{fill: func(obj Object) {
		spec := &obj.(*batchv1.Job).Spec
		setDefault(&spec.Parallelism, 1)
		setDefault(&spec.Completions, 1)
		setDefault(&spec.BackoffLimit, 6)
		fillPodSpec(&spec.Template.Spec)
	}}
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
