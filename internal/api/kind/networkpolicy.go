package kind

func init() {
	register(Kind{
		Group: "networking.k8s.io", Version: "v1", Name: "NetworkPolicy",
		ShortNames: []string{"netpol"},
		traits:     withGeneration,
	})
}
