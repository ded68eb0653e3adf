//go:build linux

package defect

import (
	"io/fs"
	"path/filepath"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

// onCopied changes each file of a new volume that is a copy.
func onCopied(change func(path string, info fs.FileInfo) error) func(*service.Driver) {
	return onCreate(func(_ *service.Driver, next service.Store, spec backend.VolumeSpec) (backend.Volume, error) {
		v, err := next.CreateVolume(spec)
		if err != nil || spec.Source == (backend.Source{}) || spec.Block {
			return v, err
		}
		return v, filepath.Walk(next.DataPath(v), func(path string, info fs.FileInfo, err error) error {
			if err != nil {
				return err
			}
			return change(path, info)
		})
	})
}
