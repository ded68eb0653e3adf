package kind

func init() {
	register(Kind{
		Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Name: "FlowSchema",
		traits: clusterScoped | withStatus | withGeneration,
	})
}
