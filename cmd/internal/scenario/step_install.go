package scenario

func init() {
	register("install-driver", "Installs a driver that has later: true, or was uninstalled: plugins, sidecars and CSIDriver object.",
		`install-driver: {driver: mock.csi.csisim.dev}`, &installDriverStep{})
	register("uninstall-driver", "Deletes a driver's deployment: sidecars, plugins, registrars and CSIDriver object; its volumes do not change.",
		`uninstall-driver: {}`, &uninstallDriverStep{})
}

// deploymentFields select a driver.
type deploymentFields struct {
	Driver string `json:"driver,omitempty" doc:"The driver; default the only one."`
}

func (s *deploymentFields) check(c *checker) { c.driver("driver", s.Driver) }

type (
	installDriverStep   struct{ deploymentFields }
	uninstallDriverStep struct{ deploymentFields }
)

func (s *installDriverStep) do(r *runner) error   { return r.cluster.Install(r.driver(s.Driver)) }
func (s *uninstallDriverStep) do(r *runner) error { return r.cluster.Uninstall(r.driver(s.Driver)) }
