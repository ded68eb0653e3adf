//go:build linux

package defect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

// once calls a function unless a file beside the state of the node or of the controller shows an
// earlier call.
func once(d *service.Driver, upgrade func(*service.Driver) error) error {
	dir := d.Config.StateDir
	if d.Config.Node {
		dir = d.Config.NodeStateDir
	}
	done := filepath.Join(dir, "release-2")
	if _, err := os.Stat(done); err == nil || !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := upgrade(d); err != nil {
		return fmt.Errorf("take over the state of the old release: %w", err)
	}
	return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(done, nil, 0o644))
}
