//go:build linux

// Package release makes hostdir a newer release that does not take over all that an older one left:
// its defects show in an upgrade or a rollback only. Each wraps the driver, and the services know
// nothing of it: it changes the configuration, does something when a node or the controller starts,
// or changes calls.
package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"google.golang.org/grpc"

	"github.com/csisim/csisim/drivers/hostdir/internal/broken"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

// defect is a defect of a release. The functions are optional.
type defect struct {
	configure func(*service.Config)
	// start is called once for each directory of state, when the release first finds it.
	start func(service.Config) error
	call  grpc.UnaryServerInterceptor
}

var defects = map[broken.Behaviour]defect{
	broken.UpgradeHandles:         changedHandles,
	broken.UpgradeNodeIDs:         changedNodeIDs,
	broken.UpgradeTopology:        changedTopology,
	broken.UpgradeDropsStaging:    droppedStaging,
	broken.UpgradeForgetsRecords:  forgottenRecords,
	broken.UpgradeRefusesState:    refusedState,
	broken.UpgradeStagingLayout:   changedStaging,
	broken.UpgradeRewritesState:   rewrittenState,
	broken.UpgradeDefaultFlags:    changedFlags,
	broken.UpgradeForgetsAttached: forgottenAttachments,
	broken.UpgradeUnmounts:        unmounted,
}

// chosen returns the defects of a release in a fixed order.
func chosen(set broken.Set) (all []defect) {
	for _, name := range slices.Sorted(maps.Keys(defects)) {
		if set.Has(name) {
			all = append(all, defects[name])
		}
	}
	return all
}

// Configure changes the configuration as the defects of the release do.
func Configure(c *service.Config) {
	for _, d := range chosen(c.Broken) {
		if d.configure != nil {
			d.configure(c)
		}
	}
}

// Start prepares the release before it serves, if it has not served with this state yet.
func Start(c service.Config) error {
	for _, d := range chosen(c.Broken) {
		if d.start == nil {
			continue
		}
		if err := once(c, d.start); err != nil {
			return err
		}
	}
	return nil
}

// once calls start unless a file beside the state of the node, or that of the controller, shows that
// it has been called.
func once(c service.Config, start func(service.Config) error) error {
	dir := c.StateDir
	if c.Node {
		dir = cmp.Or(c.NodeStateDir, c.StateDir)
	}
	done := filepath.Join(dir, "release-2")
	if _, err := os.Stat(done); err == nil || !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := start(c); err != nil {
		return fmt.Errorf("take over the state of the old release: %w", err)
	}
	return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(done, nil, 0o644))
}

// Call changes calls as the defects of the release do.
func Call(set broken.Set) grpc.UnaryServerInterceptor {
	all := chosen(set)
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		for _, d := range all {
			if d.call == nil {
				continue
			}
			next := handle
			handle = func(ctx context.Context, req any) (any, error) { return d.call(ctx, req, info, next) }
		}
		return handle(ctx, req)
	}
}
