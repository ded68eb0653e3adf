//go:build linux

package service

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/placement"
)

// Driver is one instance of the driver. Its parts may be wrapped before it is registered.
type Driver struct {
	Config  Config
	Backend *backend.Backend
	Store   Store
	Locks   Locks

	// Of a node:
	Mounts  Mounts
	Devices Devices
	Records Records
	Sources Sources
	Inlines Inlines
	Fences  Fences
	// Restarted is set if an earlier instance has served this node.
	Restarted bool
}

// Start opens the state of an instance.
func Start(cfg Config) (*Driver, error) {
	store, err := cfg.Open()
	if err != nil {
		return nil, err
	}
	if cfg.Controller {
		if err := store.Serve(); err != nil {
			return nil, err
		}
	}
	if cfg.Node && cfg.NodeStateDir == "" {
		cfg.NodeStateDir = filepath.Join(store.Dir(), "node-state", cfg.NodeID)
	}
	d := &Driver{Config: cfg, Backend: store, Store: store, Locks: newLocks(), Mounts: mounts{}, Devices: devices{}, Fences: store}
	d.Sources, d.Inlines = sources{d}, inlines{d}
	if !cfg.Node {
		return d, nil
	}
	// The directory above may exist before the first start.
	records := filepath.Join(cfg.NodeStateDir, "placements")
	_, err = os.Stat(records)
	d.Restarted = err == nil
	if d.Records, err = placement.Open(records, cfg.UnsyncedRecords); err != nil {
		return nil, fmt.Errorf("start node service: %w", err)
	}
	return d, nil
}

// Register adds the services to the server, and those of CSI-Addons to addonsServer, which may be
// the same server.
func (d *Driver) Register(server, addonsServer *grpc.Server) error {
	csi.RegisterIdentityServer(server, identity{cfg: d.Config})
	if d.Config.Addons {
		registerAddons(addonsServer, d)
	}
	if d.Config.Controller && !d.Config.InlineOnly {
		csi.RegisterControllerServer(server, &controller{cfg: d.Config, store: d.Store})
		csi.RegisterGroupControllerServer(server, groups{store: d.Store})
		// Csi-resizer calls the controller plugin.
		if !d.Config.Node && d.Config.Without[withoutControllerExpand] {
			csi.RegisterNodeServer(server, nodePromises{node: &node{Driver: d}})
		}
	}
	if !d.Config.Node {
		return nil
	}
	n := &node{Driver: d}
	err := d.Store.RegisterNode(backend.Node{ID: d.Config.NodeID, MaxVolumes: d.Config.MaxVolumes, Topology: d.Config.Topology})
	if err == nil {
		err = n.followFences()
	}
	if err != nil {
		return fmt.Errorf("start node service: %w", err)
	}
	csi.RegisterNodeServer(server, n)
	return nil
}

// UnmountAll unmounts all recorded mounts of the node.
func (d *Driver) UnmountAll() error {
	known, err := d.Records.All()
	for _, p := range known {
		_, gone := d.Mounts.Unmount(p.Path)
		err = errors.Join(err, gone)
	}
	return err
}

// Displace unmounts path and removes its record. A missing path is not an error.
func (d *Driver) Displace(path string) (was bool, err error) {
	path, err = mount.Resolve(path)
	if os.IsNotExist(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if d.Config.TrustsRecords && !d.Records.Has(path) {
		return false, nil
	}
	if was, err = d.Mounts.Unmount(path); err != nil {
		return was, err
	}
	return was, d.Records.Drop(path)
}

// Label identifies this node's loop device for a volume. Loop devices are visible to every node
// that shares the machine, so the label also contains the node and the backend.
func (d *Driver) Label(volumeID string) string {
	key := strings.Join([]string{d.Config.DriverName, d.Backend.Dir(), d.Config.NodeID, volumeID}, "\x00")
	sum := sha256.Sum256([]byte(key))
	return "hostdir-" + hex.EncodeToString(sum[:16])
}
