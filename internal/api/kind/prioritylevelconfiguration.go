package kind

func init() {
	register(Kind{
		Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Name: "PriorityLevelConfiguration",
		traits: clusterScoped | withStatus | withGeneration,
	})
}
