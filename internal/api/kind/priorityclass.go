package kind

func init() {
	register(Kind{
		Group: "scheduling.k8s.io", Version: "v1", Name: "PriorityClass",
		ShortNames: []string{"pc"},
		traits:     clusterScoped | withGeneration,
	})
}
