package kind

func init() {
	register(Kind{
		Version: "v1", Name: "ReplicationController",
		ShortNames: []string{"rc"}, Categories: []string{"all"},
		traits: withStatus | withGeneration,
	})
}
