package mock

import (
	"errors"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Contents stores the data of volumes and snapshots by their ids, at the place from which Mounters
// mount it.
type Contents interface {
	// Copy copies the data of an id to another id, in the same or another Contents.
	Copy(from string, at Contents, to string) error
	// Remove deletes the data of an id; missing data is not an error.
	Remove(id string) error
}

// KeepContents makes the storage system store the data of its volumes. Without it, volumes from
// snapshots and clones are empty.
func (d *Driver) KeepContents(c Contents) { d.contents = c }

// shown returns the name of a volume for a Mounter: data is stored by ids.
func (d *Driver) shown(v *volume) string {
	if d.contents != nil {
		return v.id
	}
	return v.device()
}

// fillFrom copies the data of a volume's source into the new volume.
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
		_ = d.contents.Remove(id) // mounted data is deleted when its mounts are removed
	}
}

// send copies the data of a volume to its copy at the other site.
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
