package kind

func init() {
	register(Kind{
		Version: "v1", Name: "PodTemplate",
		traits:         withGeneration,
		AnswersDeleted: true,
	})
}
