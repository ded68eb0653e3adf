package kind

func init() {
	register(Kind{
		Group: "node.k8s.io", Version: "v1", Name: "RuntimeClass",
		traits: clusterScoped | conditional,
	})
}
