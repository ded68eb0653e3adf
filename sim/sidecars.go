package sim

import (
	"slices"

	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/world/version"
)

// Sidecars are the flags of a driver's sidecars.
type Sidecars = fakecontroller.Sidecars

// The flags of each sidecar, and the flags that all sidecars have.
type (
	ProvisionerOptions        = fakecontroller.ProvisionerOptions
	AttacherOptions           = fakecontroller.AttacherOptions
	ResizerOptions            = fakecontroller.ResizerOptions
	SnapshotterOptions        = fakecontroller.SnapshotterOptions
	HealthMonitorOptions      = fakecontroller.HealthMonitorOptions
	RegistrarFlags            = fakecontroller.RegistrarFlags
	ClusterRegistrarOptions   = fakecontroller.ClusterRegistrarOptions
	LivenessProbeOptions      = fakecontroller.LivenessProbeOptions
	SidecarFlags              = fakecontroller.SidecarFlags
	SnapshotControllerOptions = fakecontroller.SnapshotControllerOptions
)

// startControllers starts the controllers of Kubernetes, and the sidecars of all drivers.
func (c *Simulation) startControllers() error {
	c.controllers.AddManager(fakecontroller.ControllerManager...)
	if slices.Contains(c.options.Controllers, fakecontroller.SELinuxWarningName) && c.World.Version.Has(version.SELinuxWarnings) {
		c.controllers.AddManager(fakecontroller.SELinuxWarning)
	}
	c.controllers.Add(fakecontroller.Scheduler)
	c.drivers.AddSnapshotController()
	c.reachAddons()
	for _, d := range c.drivers.All {
		if err := c.drivers.AddSidecars(d); err != nil {
			return err
		}
	}
	for _, ctl := range c.controllers.All {
		if !ctl.Down {
			ctl.Run()
		}
	}
	return nil
}
