package store

import "strings"

// pathName accepts every name that fits into one segment of a URL's path.
func pathName(name string, prefix bool) []string {
	if !prefix && (name == "." || name == "..") {
		return []string{"may not be '" + name + "'"}
	}
	var mistakes []string
	for _, illegal := range []string{"/", "%"} {
		if strings.Contains(name, illegal) {
			mistakes = append(mistakes, "may not contain '"+illegal+"'")
		}
	}
	return mistakes
}

func init() {
	group("apps", "v1",
		kind{name: "ControllerRevision"},
		kind{name: "DaemonSet", traits: withStatus | withGeneration, rules: daemonSetRules},
		kind{name: "Deployment", traits: withStatus | withGeneration, rules: deploymentRules},
		kind{name: "ReplicaSet", traits: withStatus | withGeneration, rules: replicaSetRules},
		kind{name: "StatefulSet", traits: withStatus | withGeneration, rules: statefulSetRules},
	)
	group("autoscaling", "v2",
		kind{name: "HorizontalPodAutoscaler", traits: withStatus},
	)
	group("batch", "v1",
		kind{name: "CronJob", traits: withStatus | withGeneration, rules: cronJobRules},
		kind{name: "Job", traits: withStatus | withGeneration, rules: jobRules},
	)
	group("policy", "v1",
		kind{name: "PodDisruptionBudget", traits: withStatus | withGeneration | conditional},
	)
	group("scheduling.k8s.io", "v1",
		kind{name: "PriorityClass", traits: clusterScoped | withGeneration},
	)
	group("rbac.authorization.k8s.io", "v1",
		kind{name: "ClusterRole", traits: clusterScoped, rules: clusterRoleRules},
		kind{name: "ClusterRoleBinding", traits: clusterScoped, rules: clusterRoleBindingRules},
		kind{name: "Role", rules: roleRules},
		kind{name: "RoleBinding", rules: roleBindingRules},
	)
}
