package kind

func init() {
	register(Kind{
		Group: "resource.k8s.io", Version: "v1", Name: "ResourceClaim",
		traits: withStatus,
	})
}
