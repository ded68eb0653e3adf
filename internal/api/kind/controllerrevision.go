package kind

func init() {
	register(Kind{
		Group: "apps", Version: "v1", Name: "ControllerRevision",
	})
}
