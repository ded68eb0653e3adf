package scenario

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/csisim/csisim/internal/driver/livenessprobe"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/sim"
)

// readDeploy reads a driver's own manifests.
func (c *checker) readDeploy(d *Driver) {
	if len(d.Deploy) == 0 {
		if c.has("deploy") {
			c.report("deploy", "an empty list", "files or folders with the driver's manifests, or no deploy")
		}
		return
	}
	if c.has("sidecars") {
		c.report("sidecars", "sidecars beside deploy", "no sidecars: the manifests say which run, and with which flags")
	}
	if c.has("csiDriver") {
		c.report("csiDriver", "csiDriver beside deploy", "no csiDriver: the manifests have it")
	}
	if d.Replicas > 0 {
		c.report("replicas", "replicas beside deploy", "no replicas: the manifests have them")
	}
	c.readOwn(d)
}

// readOwn reads the manifests that deploy names, and reports whether they are without mistakes.
func (c *checker) readOwn(d *Driver) bool {
	own, err := deploy.ReadOwn(c.dir, d.Deploy)
	if err == nil {
		err = d.take(own)
	}
	var problems strict.Problems
	var unread *deploy.PathError
	switch {
	case errors.As(err, &problems):
		c.problems = append(c.problems, problems...)
	case errors.As(err, &unread):
		c.at(strict.Index(c.in("deploy"), unread.Index), func() {
			c.report("", err.Error(), "a file or a folder with the driver's manifests")
		})
	case err != nil:
		c.report("deploy", err.Error(), "manifests that deploy the driver")
	}
	return err == nil
}

// take adopts the parts of a driver's own manifests that the simulation supports.
func (d *Driver) take(own *deploy.Own) error {
	if own.CSIDriver != nil {
		if name := d.name(); name != "" && name != own.CSIDriver.Name {
			return fmt.Errorf("the CSIDriver object %q beside the driver %q", own.CSIDriver.Name, name)
		}
		d.Name = own.CSIDriver.Name
	}
	d.own, d.Replicas = own, own.Replicas()
	s := &d.Sidecars
	s.Provisioner.ExtraCreateMetadata = new(bool) // as without the flag
	options := map[string]any{
		string(sim.Provisioner): &s.Provisioner, string(sim.Attacher): &s.Attacher, string(sim.Resizer): &s.Resizer,
		string(sim.Snapshotter): &s.Snapshotter, string(sim.HealthMonitor): &s.HealthMonitor,
	}
	releases := map[string]*sidecar.Release{
		string(sim.Provisioner): &s.Provisioner.Version, string(sim.Attacher): &s.Attacher.Version, string(sim.Resizer): &s.Resizer.Version,
		string(sim.Snapshotter): &s.Snapshotter.Version,
	}
	for _, name := range own.Sidecars() {
		if into := releases[name]; into != nil {
			release, known := sidecar.OfImage(name, own.Tag(name))
			if known {
				*into = release
			} else {
				d.unknown = append(d.unknown, fmt.Sprintf("%s %s (as the newest release)", name, release))
			}
		}
		if name == livenessprobe.Name {
			s.LivenessProbe = &livenessprobe.Options{}
			options[name] = s.LivenessProbe
		}
		if options[name] == nil {
			d.unknown = append(d.unknown, name)
			continue
		}
		unknown, err := deploy.SetFlags(options[name], own.Flags(name))
		if err != nil {
			return fmt.Errorf("%s %w", name, err)
		}
		slices.Sort(unknown)
		for _, flag := range unknown {
			if !slices.Contains(ofDeployments, flag) {
				d.unknown = append(d.unknown, name+" "+flag)
			}
		}
	}
	if probe := own.Liveness(); probe != nil && s.LivenessProbe != nil {
		second := func(n int32) time.Duration { return time.Duration(n) * time.Second }
		s.LivenessProbe.InitialDelay, s.LivenessProbe.Period = second(probe.InitialDelaySeconds), second(probe.PeriodSeconds)
		s.LivenessProbe.Timeout, s.LivenessProbe.FailureThreshold = second(probe.TimeoutSeconds), uint(max(probe.FailureThreshold, 0))
	}
	return nil
}

// ofDeployments lists flags of sidecars that only set paths and addresses and have no effect on the
// driver.
var ofDeployments = []string{
	"--csi-address", "--v", "--logtostderr", "--http-endpoint", "--metrics-address", "--metrics-path", "--health-port",
	"--leader-election-namespace", "--kubeconfig", "--kubelet-registration-path", "--plugin-registration-path",
}

// Unsimulated lists the sidecars in the drivers' own manifests, and their flags, that the
// simulation does not support.
func (s *Scenario) Unsimulated() (all []string) {
	for _, d := range s.Drivers {
		all = append(all, d.unknown...)
	}
	return all
}

// ownOptions sets the options that the driver's own manifests determine.
func (d Driver) ownOptions(o *sim.Driver) {
	if d.own == nil {
		return
	}
	o.CSIDriver = nil
	if d.own.CSIDriver != nil {
		o.CSIDriver = &d.own.CSIDriver.Spec
	}
	o.NoCSIDriver = o.NoCSIDriver || d.own.CSIDriver == nil
	o.NoNode, o.NoController = o.NoNode || !d.own.HasNode(), o.NoController || !d.own.HasController()
	o.Without = append(o.Without, d.absent()...)
}

// absent are the sidecars that the driver's own manifests lack.
func (d Driver) absent() (all []sim.Sidecar) {
	there := d.own.Sidecars()
	for _, s := range d.Sidecars.OfController() {
		if !slices.Contains(there, s.Name()) {
			all = append(all, sim.Sidecar(s.Name()))
		}
	}
	return all
}

// neverByOwn returns the reason why a driver cannot be deployed by its own manifests.
func (d Driver) neverByOwn() string {
	switch {
	case len(d.Down) > 0 || len(d.Plugins) > 0 || d.Later:
		return "all plugins of the manifests are there from the start"
	case len(d.External) > 0 || len(d.CSIAddons) > 0:
		return "the manifests say which sidecars run"
	case d.name() == "":
		return "the manifests have no CSIDriver object, so the driver needs a name: name"
	}
	return ""
}

func (d Driver) definesSnapshots() bool {
	return d.own != nil && d.own.Defines("snapshot.storage.k8s.io")
}
