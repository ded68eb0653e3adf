package store

import (
	corev1 "k8s.io/api/core/v1"
)

func init() {
	group("", "v1",
		kind{name: "ConfigMap", rules: configMapRules},
		kind{name: "Endpoints", rules: rules{createdByUpdate: true}},
		kind{name: "Event", rules: eventRules},
		kind{name: "LimitRange", rules: rules{createdByUpdate: true}},
		kind{name: "Namespace", traits: clusterScoped | withStatus, rules: namespaceRules},
		kind{name: "Node", traits: clusterScoped | withStatus, rules: nodeRules},
		kind{name: "PersistentVolume", traits: clusterScoped | withStatus, rules: volumeRules},
		kind{name: "PersistentVolumeClaim", traits: withStatus, rules: claimRules},
		kind{name: "Pod", traits: withStatus | withGeneration, rules: podRules},
		kind{name: "PodTemplate", traits: withGeneration},
		kind{name: "ReplicationController", traits: withStatus | withGeneration},
		kind{name: "ResourceQuota", traits: withStatus},
		kind{name: "Secret", rules: secretRules},
		kind{name: "Service", traits: withStatus, rules: serviceRules},
		kind{name: "ServiceAccount", rules: rules{passes: []pass{changed, whole}}},
	)
	claims, pods, services = resourceFor[*corev1.PersistentVolumeClaim](), resourceFor[*corev1.Pod](), resourceFor[*corev1.Service]()
	quotas, events = resourceFor[*corev1.ResourceQuota](), resourceFor[*corev1.Event]()
}

var claims, pods, services, quotas, events *Resource
