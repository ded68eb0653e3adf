package mock

import (
	"errors"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Contents keeps what is in volumes and snapshots, by their ids, where Mounters show it.
type Contents interface {
	// Copy makes what is in one that of another, at this place or another one.
	Copy(from string, at Contents, to string) error
	// Remove takes away what was in one; nothing is no error.
	Remove(id string) error
}

// KeepContents has the storage system keep what is in its volumes. Without, volumes of
// snapshots and of volumes are empty.
func (d *Driver) KeepContents(c Contents) { d.contents = c }

// shown is what a Mounter mounts for a volume: contents are kept by ids.
func (d *Driver) shown(v *volume) string {
	if d.contents != nil {
		return v.id
	}
	return v.device()
}

// fillFrom fills a new volume with what its source has.
func (d *Driver) fillFrom(source *csi.VolumeContentSource, id string) error {
	from := source.GetSnapshot().GetSnapshotId()
	if from == "" {
		from = source.GetVolume().GetVolumeId()
	}
	if from == "" {
		return nil
	}
	return d.copyContent(from, id)
}

func (d *Driver) copyContent(from, to string) error {
	if d.contents == nil {
		return nil
	}
	return internal(d.contents.Copy(from, d.contents, to))
}

func (d *Driver) dropContent(id string) {
	if d.contents != nil {
		_ = d.contents.Remove(id) // what is mounted goes with its mounts
	}
}

// send makes what is in a volume that of its copy at the other site.
func (d *Driver) send(id string) error {
	if d.contents == nil || d.other.Driver.contents == nil {
		return nil
	}
	return internal(d.contents.Copy(id, d.other.Driver.contents, id))
}

func internal(err error) error {
	var coded interface{ GRPCStatus() *status.Status }
	if err == nil || errors.As(err, &coded) {
		return err
	}
	return status.Error(codes.Internal, err.Error())
}
