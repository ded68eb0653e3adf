// Package promotion runs the subjects of a simulation on a real cluster. It translates their
// drivers, builds or pulls images, and finds or creates the cluster.
package promotion

import (
	"context"
	"fmt"
	"os"
	"slices"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"

	"github.com/csisim/csisim/internal/driver/registrar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/image"
	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/sim"
)

// Deployment lists the needs of a subject on a real cluster.
type Deployment struct {
	Drivers []deploy.Driver
	// Built are images that csisim builds. Pulled are images that the cluster already has or gets
	// from a registry.
	Built  []image.Image
	Pulled []string
	// Snapshots means that the cluster must have the kinds of snapshots and their controller.
	Snapshots bool
}

// SharedState is a directory that all nodes share, for the backends of drivers.
const SharedState = "/var/lib/csisim-shared"

// stateDir is the path of the state directory for programs of drivers. It is the path of a
// simulation, so that the programs' messages are the same.
const stateDir = wire.RunDir + "/state"

// builtTag is the tag of images that csisim builds.
const builtTag = ":csisim"

// Deploy determines the needs of a subject's drivers.
func Deploy(ctx context.Context, s Subject, o deploy.Options) (*Deployment, error) {
	drivers, err := s.install(ctx)
	if err != nil {
		return nil, err
	}
	d := &Deployment{}
	for n, i := range drivers {
		driver, built, err := describe(i, o)
		if err != nil {
			return nil, err
		}
		driver.Index, driver.Down = n, i.Down
		if s.EndsRegistrars {
			driver.Keeper = &deploy.Keeper{}
			if driver.Keeper.Libraries, err = image.Libraries(executable()); err != nil {
				return nil, &sim.EnvironmentError{Doing: "make images", Err: err}
			}
		}
		d.Drivers = append(d.Drivers, driver)
		d.Built = append(d.Built, built)
		d.Pulled = append(d.Pulled, o.SidecarImages(driver)...)
	}
	d.addContainers(s.Images)
	if d.Snapshots = s.Snapshots || slices.ContainsFunc(d.Drivers, needsSnapshots); d.Snapshots {
		d.Pulled = append(d.Pulled, o.SnapshotImages()...)
	}
	slices.Sort(d.Pulled)
	d.Pulled = slices.Compact(d.Pulled)
	return d, nil
}

// needsSnapshots reports whether a driver has csi-snapshotter, which exits on a cluster without the
// kinds of snapshots.
func needsSnapshots(d deploy.Driver) bool {
	sidecars := d.Sidecars
	if d.Own != nil {
		if d.Own.Defines(snapshotv1.GroupName) {
			return false
		}
		sidecars = d.Own.Sidecars()
	}
	return slices.Contains(sidecars, string(sim.Snapshotter))
}

// addContainers adds the images of the subject's own containers: csisim builds the images of
// registry.local, which only sleep.
func (d *Deployment) addContainers(images []string) {
	var stood []string
	for _, name := range images {
		if deploy.Sleeps(name) {
			stood = append(stood, name)
		} else if name != "" {
			d.Pulled = append(d.Pulled, name)
		}
	}
	if len(stood) > 0 {
		d.Built = append(d.Built, image.Image{Names: stood, Files: map[string]string{Self: executable()}, Entrypoint: []string{Self, "sleep"}})
	}
}

// Self is the path of this program in images: csisim, or the binary of a test.
const Self = "/csisim"

func executable() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// describe returns a driver and the image of its program.
func describe(i installed, o deploy.Options) (deploy.Driver, image.Image, error) {
	files := map[string]string{Self: executable()}
	if i.own != nil {
		return deploy.Driver{Name: i.Name, Own: i.own}, image.Image{Names: []string{deploy.ProxyImage}, Files: files, Entrypoint: []string{Self}}, nil
	}
	slug := deploy.Slug(i.Name)
	built := image.Image{Names: []string{"csisim.dev/" + slug + builtTag}, Files: files}
	d := deploy.Driver{Name: i.Name, CSIDriver: i.csiDriver, Flags: flagsOf(i), Later: i.Later}
	for _, s := range i.sidecars {
		if deploy.Pinned[s] != "" && s != registrar.Program {
			d.Sidecars = append(d.Sidecars, s)
		}
	}
	switch {
	case i.Mock != nil:
		d.Name = o.Scope.Name(i.Name)
		if err := addMock(&d, i, deploy.Slug(d.Name), o); err != nil {
			return d, built, err
		}
	case i.Program != nil:
		if err := addProgram(&d, i, slug, o, built.Files); err != nil {
			return d, built, err
		}
	default:
		return d, built, &sim.ConfigError{Subject: fmt.Sprintf("driver %q", i.Name), Problem: "a driver that runs already on a socket of this machine is in no pod: give its program"}
	}
	if i.NoNode {
		d.Node = nil
	}
	if i.NoController {
		d.Controller, d.Sidecars = nil, nil
	}
	for _, p := range []*deploy.Program{d.Node, d.Controller, d.Backend} {
		if p != nil {
			p.Image = built.Names[0]
		}
	}
	return d, built, nil
}
