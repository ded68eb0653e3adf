package kind

func init() {
	register(Kind{
		Group: "autoscaling", Version: "v2", Name: "HorizontalPodAutoscaler",
		traits: withStatus,
	})
}
