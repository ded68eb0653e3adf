package oracle

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/coordination/lease"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	"k8s.io/kubernetes/pkg/registry/core/endpoint"
	"k8s.io/kubernetes/pkg/registry/core/event"
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
	"k8s.io/kubernetes/pkg/registry/discovery/endpointslice"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrole"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding"
	"k8s.io/kubernetes/pkg/registry/rbac/role"
	"k8s.io/kubernetes/pkg/registry/rbac/rolebinding"
	"k8s.io/kubernetes/pkg/registry/scheduling/priorityclass"
	"k8s.io/kubernetes/pkg/registry/storage/csidriver"
	"k8s.io/kubernetes/pkg/registry/storage/csinode"
	"k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattachment"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattributesclass"
)

// served describes how an API server of Kubernetes treats the objects of one kind.
type served struct {
	strategy interface {
		rest.RESTCreateStrategy
		rest.RESTUpdateStrategy
	}
	status rest.RESTUpdateStrategy // nil: without the subresource
	// fields are the values of field selectors. Default: name and namespace.
	fields func(runtime.Object) (labels.Set, fields.Set, error)
}

var kinds = map[string]served{
	"Pod":                   {pod.Strategy, pod.StatusStrategy, pod.GetAttrs},
	"PersistentVolumeClaim": {persistentvolumeclaim.Strategy, persistentvolumeclaim.StatusStrategy, persistentvolumeclaim.GetAttrs},
	"PersistentVolume":      {persistentvolume.Strategy, persistentvolume.StatusStrategy, persistentvolume.GetAttrs},
	"StorageClass":          {storageclass.Strategy, nil, nil},
	"VolumeAttachment":      {volumeattachment.Strategy, volumeattachment.StatusStrategy, nil},
	"CSIDriver":             {csidriver.Strategy, nil, nil},
	"CSINode":               {csinode.Strategy, nil, nil},
	"CSIStorageCapacity":    {csistoragecapacity.Strategy, nil, nil},
	"VolumeAttributesClass": {volumeattributesclass.Strategy, nil, nil},
	"Job":                   {job.Strategy, job.StatusStrategy, job.GetAttrs},
	"CronJob":               {cronjob.Strategy, cronjob.StatusStrategy, nil},
	"Service":               {service.Strategy, service.StatusStrategy, service.GetAttrs},
	"Deployment":            {deployment.Strategy, deployment.StatusStrategy, nil},
	"ReplicaSet":            {replicaset.Strategy, replicaset.StatusStrategy, replicaset.GetAttrs},
	"StatefulSet":           {statefulset.Strategy, statefulset.StatusStrategy, nil},
	"DaemonSet":             {daemonset.Strategy, daemonset.StatusStrategy, nil},
	"PodDisruptionBudget":   {poddisruptionbudget.Strategy, poddisruptionbudget.StatusStrategy, nil},
	"LimitRange":            {limitrange.Strategy, nil, nil},
	"ResourceQuota":         {resourcequota.Strategy, resourcequota.StatusStrategy, nil},
	"ConfigMap":             {configmap.Strategy, nil, configmap.GetAttrs},
	"Secret":                {secret.Strategy, nil, secret.GetAttrs},
	"Namespace":             {namespace.Strategy, namespace.StatusStrategy, namespace.GetAttrs},
	"Node":                  {node.Strategy, node.StatusStrategy, node.GetAttrs},
	"ServiceAccount":        {serviceaccount.Strategy, nil, nil},
	"Lease":                 {lease.Strategy, nil, nil},
	"PriorityClass":         {priorityclass.Strategy, nil, nil},
	"Event":                 {event.Strategy, nil, event.GetAttrs},
	"Endpoints":             {endpoint.Strategy, nil, nil},
	"EndpointSlice":         {endpointslice.Strategy, nil, nil},
	"Role":                  {role.Strategy, nil, nil},
	"RoleBinding":           {rolebinding.Strategy, nil, nil},
	"ClusterRole":           {clusterrole.Strategy, nil, nil},
	"ClusterRoleBinding":    {clusterrolebinding.Strategy, nil, nil},
}

// kept maps kinds to the reason why csisim checks only their metadata: nothing acts on these kinds.
var kept = map[string]string{
	"PodTemplate":                      "no pods are created",
	"ReplicationController":            "no pods are created",
	"ControllerRevision":               "the controllers keep no history",
	"HorizontalPodAutoscaler":          "nothing measures",
	"Ingress":                          "programs share the network of the machine",
	"IngressClass":                     "programs share the network of the machine",
	"NetworkPolicy":                    "programs share the network of the machine",
	"IPAddress":                        "the addresses of services are not objects",
	"ServiceCIDR":                      "the addresses of services are not objects",
	"RuntimeClass":                     "containers are programs of the machine",
	"ResourceClaim":                    "devices are not allocated",
	"ResourceClaimTemplate":            "devices are not allocated",
	"ResourceSlice":                    "devices are not allocated",
	"DeviceClass":                      "devices are not allocated",
	"CertificateSigningRequest":        "nothing signs",
	"FlowSchema":                       "requests do not queue",
	"PriorityLevelConfiguration":       "requests do not queue",
	"MutatingWebhookConfiguration":     "webhooks are not called",
	"ValidatingWebhookConfiguration":   "webhooks are not called",
	"ValidatingAdmissionPolicy":        "policies are not asked",
	"ValidatingAdmissionPolicyBinding": "policies are not asked",
}

func servedOf(obj runtime.Object) served { return kinds[obj.GetObjectKind().GroupVersionKind().Kind] }
