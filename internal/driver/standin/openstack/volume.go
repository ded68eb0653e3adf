package openstack

import (
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"github.com/csisim/csisim/internal/driver/standin/disk"
)

// volume is a volume of the cloud.
type volume struct {
	id, name, description string
	status                string
	kind, zone            string
	size                  int // GiB
	snapshot, source      string
	metadata              map[string]string
	multiattach           bool
	made                  time.Time
	attachments           []attachment
	disk                  *disk.Disk
	pending               *transition
}

// attachment is the attachment of a volume to a server.
type attachment struct {
	server, device string
	at             time.Time
}

// transition is the end of a state such as creating, after a number of reads.
type transition struct {
	looks uint
	end   func() error
}

// then ends the state that a request began, once clients have read it often enough. If the
// transition has to fail, the result is an error state.
func (c *Cloud) then(pending **transition, operation string, end, fail func() error) {
	if _, failing := c.fails(operation); failing {
		end = fail
	}
	*pending = &transition{c.options.Settle, end}
}

// settle ends the state if its time is over, and otherwise counts a read.
func settle(pending **transition, look bool) error {
	t := *pending
	switch {
	case t == nil:
		return nil
	case t.looks == 0:
		*pending = nil
		return t.end()
	case look:
		t.looks--
	}
	return nil
}

const gibibyte = 1 << 30

func (c *Cloud) createVolume(request *http.Request) (answer, error) {
	type asked struct {
		Volume struct {
			Name, Description string
			Size              int
			AvailabilityZone  string            `json:"availability_zone"`
			VolumeType        string            `json:"volume_type"`
			SnapshotID        string            `json:"snapshot_id"`
			SourceVolID       string            `json:"source_volid"`
			BackupID          string            `json:"backup_id"`
			Metadata          map[string]string `json:"metadata"`
		} `json:"volume"`
	}
	body, err := read[asked](request)
	if err != nil {
		return answer{}, err
	}
	o := body.Volume
	v := &volume{
		name: o.Name, description: o.Description, status: "creating", kind: orElse(o.VolumeType, defaultType),
		zone: orElse(o.AvailabilityZone, c.zones()[0]), size: o.Size, snapshot: o.SnapshotID, source: o.SourceVolID,
		metadata: o.Metadata, made: time.Now(),
	}
	content, err := c.checkNew(v, o.BackupID)
	if err != nil {
		return answer{}, err
	}
	v.multiattach = slices.Contains(c.options.Multiattach, v.kind)
	v.id = c.uuid("volume", v.name)
	if v.disk, err = c.makeDisk(v.id, content, v.size); err != nil {
		return answer{}, err
	}
	c.volumes = append(c.volumes, v)
	c.then(&v.pending, "creating", v.becomes("available"), v.becomes("error"))
	a := answer{status: http.StatusAccepted, body: map[string]any{"volume": v.view()}}
	return a, settle(&v.pending, false)
}

// checkNew rejects an impossible volume, and finds the disk with its initial content.
func (c *Cloud) checkNew(v *volume, backup string) (content *disk.Disk, err error) {
	least := 1
	switch {
	case backup != "":
		return nil, refuse(http.StatusNotFound, "Backup %s could not be found.", backup)
	case v.kind != defaultType && !slices.Contains(c.options.Types, v.kind):
		return nil, refuse(http.StatusNotFound, "Volume type with name %s could not be found.", v.kind)
	case !slices.Contains(c.zones(), v.zone):
		return nil, refuse(http.StatusBadRequest, "Invalid input received: Availability zone '%s' is invalid.", v.zone)
	case v.snapshot != "":
		s, err := c.snapshotOf(v.snapshot)
		if err != nil {
			return nil, err
		}
		if s.status != "available" {
			return nil, refuse(http.StatusBadRequest, "Invalid snapshot: Originating snapshot status must be one of 'available' values")
		}
		content, least = s.disk, s.size
	case v.source != "":
		origin, err := c.volumeOf(v.source)
		if err != nil {
			return nil, err
		}
		if origin.status != "available" && origin.status != "in-use" {
			return nil, refuse(http.StatusBadRequest, "Invalid volume: Unable to create a volume from an errored source volume.")
		}
		content, least = origin.disk, origin.size
	}
	if v.size == 0 {
		v.size = least
	}
	if v.size < least {
		return nil, refuse(http.StatusBadRequest, "Invalid input received: Volume size '%dGB' cannot be smaller than original volume size  %dGB. They must be >= original volume size.", v.size, least)
	}
	return content, c.checkQuota(v.size, 1, 0)
}

// checkQuota rejects a volume or snapshot that exceeds the project's quota.
func (c *Cloud) checkQuota(size, volumes, snapshots int) error {
	used := 0
	for _, v := range c.volumes {
		used += v.size
	}
	for _, s := range c.snapshots {
		used += s.size
	}
	q := c.options.Quota
	switch {
	case q.Gigabytes > 0 && used+size > q.Gigabytes:
		return refuse(http.StatusRequestEntityTooLarge, "VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota. Requested %dG, quota is %dG and %dG has been consumed.", size, q.Gigabytes, used)
	case q.Volumes > 0 && len(c.volumes)+volumes > q.Volumes:
		return refuse(http.StatusRequestEntityTooLarge, "VolumeLimitExceeded: Maximum number of volumes allowed (%d) exceeded for quota 'volumes'.", q.Volumes)
	case q.Snapshots > 0 && len(c.snapshots)+snapshots > q.Snapshots:
		return refuse(http.StatusRequestEntityTooLarge, "SnapshotLimitExceeded: Maximum number of snapshots allowed (%d) exceeded", q.Snapshots)
	}
	return nil
}

func (c *Cloud) getVolume(request *http.Request) (answer, error) {
	v, err := c.volumeOf(request.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	a := answer{status: http.StatusOK, body: map[string]any{"volume": v.view()}}
	return a, settle(&v.pending, true)
}

func (c *Cloud) listVolumes(request *http.Request) (answer, error) {
	query := request.URL.Query()
	var found []view
	for _, v := range slices.Clone(c.volumes) {
		if fits(query, "name", v.name) && fits(query, "status", v.status) {
			found = append(found, v.view())
		}
		if err := settle(&v.pending, true); err != nil {
			return answer{}, err
		}
	}
	return c.page(request, "volumes", found)
}

func (c *Cloud) deleteVolume(request *http.Request) (answer, error) {
	v, err := c.volumeOf(request.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	deletable := slices.Contains([]string{"available", "error", "error_restoring", "error_extending", "error_managing"}, v.status)
	depends := slices.ContainsFunc(c.snapshots, func(s *snapshot) bool { return s.volume == v.id })
	if !deletable || len(v.attachments) > 0 || depends {
		return answer{}, refuse(http.StatusBadRequest, "Invalid volume: Volume status must be available or error or error_restoring or error_extending or error_managing and must not be migrating, attached, belong to a group, have snapshots, awaiting a transfer, or be disassociated from snapshots after volume transfer.")
	}
	v.status = "deleting"
	gone := func() error {
		c.volumes = slices.DeleteFunc(c.volumes, func(other *volume) bool { return other == v })
		return v.disk.Remove()
	}
	c.then(&v.pending, "deleting", gone, v.becomes("error_deleting"))
	return answer{status: http.StatusAccepted}, settle(&v.pending, false)
}

// actOnVolume performs os-extend, the only action that drivers request.
func (c *Cloud) actOnVolume(request *http.Request) (answer, error) {
	v, err := c.volumeOf(request.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	type asked struct {
		Extend *struct {
			NewSize int `json:"new_size"`
		} `json:"os-extend"`
	}
	body, err := read[asked](request)
	switch {
	case err != nil:
		return answer{}, err
	case body.Extend == nil:
		return answer{}, refuse(http.StatusBadRequest, "There is no such action")
	case v.status == "in-use" && !atLeast(request, "OpenStack-API-Version", "volume", 42):
		return answer{}, refuse(http.StatusBadRequest, "Invalid volume: Volume %s status must be '{'status': 'available'}' to extend, currently in-use.", v.id)
	case v.status != "available" && v.status != "in-use":
		return answer{}, refuse(http.StatusBadRequest, "Invalid volume: Volume %s status must be available or in-use to extend, currently %s.", v.id, v.status)
	case body.Extend.NewSize <= v.size:
		return answer{}, refuse(http.StatusBadRequest, "Invalid input received: New size for extend must be greater than current size. (current: %d, extended: %d).", v.size, body.Extend.NewSize)
	}
	if err := c.checkQuota(body.Extend.NewSize-v.size, 0, 0); err != nil {
		return answer{}, err
	}
	before := v.status
	v.status = "extending"
	grown := func() error {
		v.status, v.size = before, body.Extend.NewSize
		return v.disk.Grow(int64(v.size) * gibibyte)
	}
	c.then(&v.pending, "extending", grown, v.becomes("error_extending"))
	return answer{status: http.StatusAccepted}, settle(&v.pending, false)
}

func (c *Cloud) volumeOf(id string) (*volume, error) {
	i := slices.IndexFunc(c.volumes, func(v *volume) bool { return v.id == id })
	if i < 0 {
		return nil, refuse(http.StatusNotFound, "Volume %s could not be found.", id)
	}
	return c.volumes[i], nil
}

func (c *Cloud) listTypes(*http.Request) (answer, error) {
	var types []any
	for _, name := range append([]string{defaultType}, c.options.Types...) {
		specs := map[string]string{}
		if slices.Contains(c.options.Multiattach, name) {
			specs["multiattach"] = "<is> True"
		}
		types = append(types, map[string]any{"id": uuidOf("type/" + name), "name": name, "is_public": true, "extra_specs": specs})
	}
	return answer{status: http.StatusOK, body: map[string]any{"volume_types": types}}, nil
}

// becomes returns the end of a transition.
func (v *volume) becomes(status string) func() error {
	return func() error { v.status = status; return nil }
}

// view returns a volume as a client sees it.
func (v *volume) view() view {
	attached := []any{}
	for _, a := range v.attachments {
		attached = append(attached, map[string]any{
			"id": v.id, "attachment_id": uuidOf("attachment/" + v.id + a.server), "volume_id": v.id,
			"server_id": a.server, "device": a.device, "host_name": nil, "attached_at": timestamp(a.at),
		})
	}
	return view{
		"id": v.id, "name": v.name, "description": v.description, "status": v.status, "size": v.size,
		"volume_type": v.kind, "availability_zone": v.zone, "metadata": v.metadata, "multiattach": v.multiattach,
		"attachments": attached, "snapshot_id": orNull(v.snapshot), "source_volid": orNull(v.source),
		"created_at": timestamp(v.made), "updated_at": timestamp(v.made), "bootable": "false", "encrypted": false,
		"replication_status": nil, "consistencygroup_id": nil, "user_id": uuidOf("user"), "os-vol-tenant-attr:tenant_id": uuidOf("project"),
	}
}

// makeDisk creates a disk, with the content of another one unless that is nil.
func (c *Cloud) makeDisk(id string, content *disk.Disk, size int) (*disk.Disk, error) {
	return disk.Make(filepath.Join(c.dir, "images", id), content, int64(size)*gibibyte)
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}
