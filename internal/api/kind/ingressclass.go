package kind

func init() {
	register(Kind{
		Group: "networking.k8s.io", Version: "v1", Name: "IngressClass",
		traits: clusterScoped | withGeneration,
	})
}
