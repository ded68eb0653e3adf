package kind

func init() {
	register(Kind{
		Group: "networking.k8s.io", Version: "v1", Name: "IPAddress",
		traits: clusterScoped,
	})
}
