package kind

func init() {
	register(Kind{
		Version: "v1", Name: "Endpoints",
		ShortNames: []string{"ep"},
		Plural:     "endpoints",
		rules:      rules{createdByUpdate: true},
	})
}
