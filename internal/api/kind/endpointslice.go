package kind

func init() {
	register(Kind{
		Group: "discovery.k8s.io", Version: "v1", Name: "EndpointSlice",
		traits: withGeneration,
	})
}
