//go:build linux

package defect

import (
	"os"
	"path/filepath"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var snapshotLeavesChecksums = &Defect{
	Name: "snapshot-leaves-checksums",
	Does: "CreateSnapshot writes checksums to a file beside the snapshots, which DeleteSnapshot leaves",
	Call: after(func(d *service.Driver, _ *csi.CreateSnapshotRequest, answer *csi.CreateSnapshotResponse) error {
		name := "checksums-of-" + answer.GetSnapshot().GetSnapshotId()
		return os.WriteFile(filepath.Join(d.Backend.Dir(), name), []byte("0"), 0o600)
	}),
}
