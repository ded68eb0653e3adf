package cluster

import (
	"errors"
	"fmt"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
)

// Install deploys a driver that is not installed: its plugins, sidecars and CSIDriver object. Its
// backend is unchanged.
func (ds *Drivers) Install(name string) error {
	d, err := ds.Named(name)
	if err != nil {
		return err
	}
	if d.installed() {
		return &ConfigError{Subject: fmt.Sprintf("driver %q", name), Problem: "it is installed already"}
	}
	ds.World.Trace.Note("", "driver %s installed", name)
	if err := ds.start(d); err != nil {
		return err
	}
	ds.SeeMachines()
	first := len(ds.Controllers.All)
	ds.AddSnapshotController()
	if err := ds.AddSidecars(d); err != nil {
		return err
	}
	for _, ctl := range ds.Controllers.All[first:] {
		ctl.Run()
	}
	return nil
}

// Uninstall deletes a driver's deployment: it kills the sidecars, stops the plugins and registrars,
// and deletes the CSIDriver object. Volumes that are attached, mounted or claimed stay unchanged.
func (ds *Drivers) Uninstall(name string) error {
	d, err := ds.Named(name)
	if err != nil {
		return err
	}
	if !d.installed() {
		return &ConfigError{Subject: fmt.Sprintf("driver %q", name), Problem: "it is not installed"}
	}
	ds.World.Trace.Note("", "driver %s uninstalled", name)
	var sidecars []*Controller
	for _, p := range ds.Plugins(d) {
		sidecars = append(sidecars, p.beside...)
	}
	ds.Controllers.Remove(sidecars)
	var errs []error
	for _, p := range ds.Plugins(d) {
		p.endProbes()
		if p.registrar != nil {
			errs = append(errs, p.registrar.Stop())
		}
		errs = append(errs, p.stop())
	}
	d.Controller, d.replicas, d.Nodes, d.further = nil, nil, map[string]*Plugin{}, nil
	return errors.Join(append(errs, ds.removeCSIDriver(d))...)
}

func (ds *Drivers) removeCSIDriver(d *Driver) error {
	if d.registersItself() {
		return nil
	}
	if _, ok := store.Get[*storagev1.CSIDriver](ds.World.Store, store.Key{Name: d.Name}); !ok {
		return nil
	}
	_, err := store.Delete[*storagev1.CSIDriver](ds.World.Store, store.Key{Name: d.Name})
	return err
}

// installCSIDriver creates the driver's CSIDriver object, as the driver's deployment does.
func (ds *Drivers) installCSIDriver(d *Driver) error {
	if d.NoCSIDriver || d.registersItself() && d.CSIDriver == nil {
		return nil
	}
	spec := storagev1.CSIDriverSpec{}
	if d.CSIDriver != nil {
		spec = *d.CSIDriver
	}
	if spec.AttachRequired == nil {
		attaches := d.promised["PUBLISH_UNPUBLISH_VOLUME"]
		spec.AttachRequired = &attaches
	}
	if err := ds.createCSIDriver(&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: d.Name}, Spec: spec}); err != nil {
		return &ConfigError{Subject: fmt.Sprintf("driver %q", d.Name), Problem: "its CSIDriver object is refused: " + err.Error()}
	}
	return nil
}

// registersItself reports whether cluster-driver-registrar creates the driver's CSIDriver object.
// When it ends, it leaves the object behind. C-CDR-3
func (d *Driver) registersItself() bool {
	return d.Sidecars.ClusterRegistrar != nil || d.Lacks(fakecontroller.ClusterRegistrar)
}

// createCSIDriver creates the object in the form that the cluster's version knows. L-CDR-2
func (ds *Drivers) createCSIDriver(d *storagev1.CSIDriver) error {
	if !ds.World.Began.Has(version.CSINode) {
		_, err := store.Create(ds.World.Store, legacy.FromCSIDriver(d))
		return err
	}
	_, err := store.Create(ds.World.Store, d)
	return err
}
