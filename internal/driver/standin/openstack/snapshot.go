package openstack

import (
	"net/http"
	"slices"
	"time"

	"github.com/csisim/csisim/internal/driver/standin/disk"
)

// snapshot is a snapshot of a volume.
type snapshot struct {
	id, name, description string
	volume, status        string
	size                  int // GiB
	metadata              map[string]string
	made                  time.Time
	disk                  *disk.Disk
	pending               *transition
}

func (c *Cloud) createSnapshot(request *http.Request) (answer, error) {
	type asked struct {
		Snapshot struct {
			Name, Description string
			VolumeID          string            `json:"volume_id"`
			Force             bool              `json:"force"`
			Metadata          map[string]string `json:"metadata"`
		} `json:"snapshot"`
	}
	body, err := read[asked](request)
	if err != nil {
		return answer{}, err
	}
	o := body.Snapshot
	v, err := c.volumeOf(o.VolumeID)
	if err != nil {
		return answer{}, err
	}
	if v.status != "available" && (v.status != "in-use" || !o.Force) {
		return answer{}, refuse(http.StatusBadRequest, "Invalid volume: Volume %s status must be available, but current status is: %s.", v.id, v.status)
	}
	if err := c.checkQuota(v.size, 0, 1); err != nil {
		return answer{}, err
	}
	s := &snapshot{
		id: c.uuid("snapshot", o.Name), name: o.Name, description: o.Description, volume: v.id, status: "creating",
		size: v.size, metadata: o.Metadata, made: time.Now(),
	}
	if s.disk, err = c.makeDisk(s.id, v.disk, s.size); err != nil {
		return answer{}, err
	}
	c.snapshots = append(c.snapshots, s)
	c.then(&s.pending, "snapshotting", s.becomes("available"), s.becomes("error"))
	a := answer{status: http.StatusAccepted, body: map[string]any{"snapshot": s.view()}}
	return a, settle(&s.pending, false)
}

func (c *Cloud) getSnapshot(request *http.Request) (answer, error) {
	s, err := c.snapshotOf(request.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	a := answer{status: http.StatusOK, body: map[string]any{"snapshot": s.view()}}
	return a, settle(&s.pending, true)
}

func (c *Cloud) listSnapshots(request *http.Request) (answer, error) {
	query := request.URL.Query()
	var found []view
	for _, s := range slices.Clone(c.snapshots) {
		if fits(query, "name", s.name) && fits(query, "status", s.status) && fits(query, "volume_id", s.volume) {
			found = append(found, s.view())
		}
		if err := settle(&s.pending, true); err != nil {
			return answer{}, err
		}
	}
	return c.page(request, "snapshots", found)
}

func (c *Cloud) deleteSnapshot(request *http.Request) (answer, error) {
	s, err := c.snapshotOf(request.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	if s.status != "available" && s.status != "error" {
		return answer{}, refuse(http.StatusBadRequest, "Invalid snapshot: Snapshot status must be available or error, and must not be part of a group.")
	}
	s.status = "deleting"
	gone := func() error {
		c.snapshots = slices.DeleteFunc(c.snapshots, func(other *snapshot) bool { return other == s })
		return s.disk.Remove()
	}
	c.then(&s.pending, "deleting", gone, s.becomes("error_deleting"))
	return answer{status: http.StatusAccepted}, settle(&s.pending, false)
}

func (c *Cloud) snapshotOf(id string) (*snapshot, error) {
	i := slices.IndexFunc(c.snapshots, func(s *snapshot) bool { return s.id == id })
	if i < 0 {
		return nil, refuse(http.StatusNotFound, "Snapshot %s could not be found.", id)
	}
	return c.snapshots[i], nil
}

func (s *snapshot) becomes(status string) func() error {
	return func() error { s.status = status; return nil }
}

// view returns a snapshot as a client sees it.
func (s *snapshot) view() view {
	return view{
		"id": s.id, "name": s.name, "description": s.description, "volume_id": s.volume, "status": s.status, "size": s.size,
		"metadata": s.metadata, "created_at": timestamp(s.made), "updated_at": timestamp(s.made),
	}
}

// The cloud has no backup service.

func (c *Cloud) getBackup(request *http.Request) (answer, error) {
	return answer{}, refuse(http.StatusNotFound, "Backup %s could not be found.", request.PathValue("id"))
}

func (c *Cloud) listBackups(request *http.Request) (answer, error) {
	return c.page(request, "backups", nil)
}

func (c *Cloud) createBackup(*http.Request) (answer, error) {
	return answer{}, refuse(http.StatusServiceUnavailable, "Service cinder-backup could not be found.")
}
