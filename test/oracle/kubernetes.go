// Package oracle lays what csisim says of objects beside what Kubernetes' own code says: the mistakes
// in them, their defaults, columns and field selectors.
package oracle

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	"k8s.io/kubernetes/pkg/capabilities"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/coordination/lease"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	"k8s.io/kubernetes/pkg/registry/core/limitrange"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/resourcequota"
	"k8s.io/kubernetes/pkg/registry/core/secret"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/core/serviceaccount"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/scheduling/priorityclass"
	"k8s.io/kubernetes/pkg/registry/storage/csidriver"
	"k8s.io/kubernetes/pkg/registry/storage/csinode"
	"k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattachment"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattributesclass"
)

// strategies are what an API server of Kubernetes does with new objects, by kind.
var strategies = map[string]rest.RESTCreateStrategy{
	"Pod": pod.Strategy, "PersistentVolumeClaim": persistentvolumeclaim.Strategy, "PersistentVolume": persistentvolume.Strategy,
	"StorageClass": storageclass.Strategy, "VolumeAttachment": volumeattachment.Strategy, "CSIDriver": csidriver.Strategy,
	"CSINode": csinode.Strategy, "CSIStorageCapacity": csistoragecapacity.Strategy, "VolumeAttributesClass": volumeattributesclass.Strategy,
	"Job": job.Strategy, "CronJob": cronjob.Strategy, "Service": service.Strategy, "Deployment": deployment.Strategy,
	"ReplicaSet": replicaset.Strategy, "StatefulSet": statefulset.Strategy, "DaemonSet": daemonset.Strategy,
	"PodDisruptionBudget": poddisruptionbudget.Strategy, "LimitRange": limitrange.Strategy, "ResourceQuota": resourcequota.Strategy,
	"ConfigMap": configmap.Strategy, "Secret": secret.Strategy, "Namespace": namespace.Strategy, "Node": node.Strategy,
	"ServiceAccount": serviceaccount.Strategy, "Lease": lease.Strategy, "PriorityClass": priorityclass.Strategy,
}

// An API server is started with --allow-privileged, as kubeadm does.
func init() { capabilities.Initialize(capabilities.Capabilities{AllowPrivileged: true}) }

// defaulted is the object with the defaults of its kind.
func defaulted(obj runtime.Object) runtime.Object {
	obj = obj.DeepCopyObject()
	legacyscheme.Scheme.Default(obj)
	return obj
}

// stored is the object with its defaults as it comes back from the internal version.
func stored(obj runtime.Object) (runtime.Object, error) {
	gvk := obj.GetObjectKind().GroupVersionKind()
	internal, err := legacyscheme.Scheme.ConvertToVersion(defaulted(obj), schema.GroupVersion{Group: gvk.Group, Version: runtime.APIVersionInternal})
	if err != nil {
		return nil, err
	}
	return legacyscheme.Scheme.ConvertToVersion(internal, gvk.GroupVersion())
}

// create is what Kubernetes answers to a new object, as far as its own fields decide: the error of
// its validation.
func create(obj runtime.Object) error {
	gvk := obj.GetObjectKind().GroupVersionKind()
	strategy := strategies[gvk.Kind]
	internal, err := legacyscheme.Scheme.ConvertToVersion(defaulted(obj), schema.GroupVersion{Group: gvk.Group, Version: runtime.APIVersionInternal})
	if err != nil {
		return fmt.Errorf("convert to the internal version: %w", err)
	}
	m, err := meta.Accessor(internal)
	if err != nil {
		return err
	}
	m.SetUID(types.UID("00000000-0000-0000-0000-000000000001"))
	m.SetCreationTimestamp(metav1.Now())
	ctx := genericapirequest.WithNamespace(genericapirequest.NewContext(), m.GetNamespace())
	ctx = genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{APIGroup: gvk.Group, APIVersion: gvk.Version, Verb: "create"})
	return rest.BeforeCreate(strategy, ctx, internal)
}
