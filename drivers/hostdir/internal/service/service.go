//go:build linux

// Package service answers CSI calls with a backend and this machine's mounts.
package service

import (
	"net/netip"
	"time"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
)

// Version is the version in GetPluginInfo.
const Version = "0.1.0"

// Config describes one instance of the driver.
type Config struct {
	DriverName string
	// NodeID is the name of this node; required with Node.
	NodeID string
	// StateDir is shared by all instances. NodeStateDir belongs to this node; by default it is
	// below StateDir.
	StateDir, NodeStateDir string
	// Site and Peer name the two sites that share StateDir, each in a directory with its name.
	// Default: one site.
	Site, Peer string
	// Controller and Node select the services that this instance offers.
	Controller, Node bool
	// Attach and Stage switch ControllerPublishVolume and NodeStageVolume on.
	Attach, Stage bool
	// Topology is the topology of this node; empty disables topology.
	Topology map[string]string
	// MaxVolumes limits the volumes attached to this node; 0 means no limit.
	MaxVolumes int64
	// MountGroup offers VOLUME_MOUNT_GROUP. Default: the kubelet gives volumes to the fsGroup.
	MountGroup bool
	// Inline also serves volumes from pod specs; InlineOnly serves only these.
	Inline, InlineOnly bool
	// InlineReadOnly rejects inline volumes that are not read-only.
	InlineReadOnly bool
	// Addons also serves CSI-Addons. NodeAddress is the address of this node for fencing; empty by
	// default.
	Addons      bool
	NodeAddress netip.Addr
	Without     Without
	// Jobs configures work of the backend outside the calls. Default: none.
	Jobs backend.Jobs
	// StartDelay is the time until the driver serves.
	StartDelay time.Duration
	// Format is the form of the records of volumes. Default: backend.V1.
	Format backend.Format
	// TrustsRecords means that a mount without a record is not unmounted. Default: the mount table
	// decides.
	TrustsRecords bool
	// UnsyncedRecords means that records are not synced, so the node loses them with its power.
	// Default: records are synced.
	UnsyncedRecords bool
}

// Open opens the backend of an instance.
func (cfg Config) Open() (store *backend.Backend, err error) {
	if cfg.Site == "" {
		store, err = backend.Open(cfg.StateDir)
	} else {
		store, err = backend.OpenSite(cfg.StateDir, cfg.Site, cfg.Peer)
	}
	if err != nil {
		return nil, err
	}
	store.Jobs, store.Format = cfg.Jobs, cfg.Format
	return store, nil
}
