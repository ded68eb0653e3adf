package store

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
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
		kind{name: "Service", traits: withStatus, rules: rules{name: validation.NameIsDNS1035Label, createdByUpdate: true}},
		kind{name: "ServiceAccount", rules: rules{passes: []pass{changed, whole}}},
	)
	claims, quotas = resourceFor[*corev1.PersistentVolumeClaim](), resourceFor[*corev1.ResourceQuota]()
}

var claims, quotas *Resource
