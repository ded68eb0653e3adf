package openstack

import (
	"net/http"
	"slices"
	"time"

	"github.com/csisim/csisim/internal/driver/standin"
)

// server is a machine of the run in its role as a server of the cloud.
type server struct {
	id, name, zone string
	node           standin.Node
}

func (c *Cloud) serverOf(id string) (*server, error) {
	s := c.servers[id]
	if s == nil {
		return nil, refuse(http.StatusNotFound, "Instance %s could not be found.", id)
	}
	return s, nil
}

func (c *Cloud) getServer(request *http.Request) (answer, error) {
	s, err := c.serverOf(request.PathValue("server"))
	if err != nil {
		return answer{}, err
	}
	attached := []any{}
	for _, v := range c.volumes {
		if v.attachedTo(s.id) {
			attached = append(attached, map[string]any{"id": v.id})
		}
	}
	return answer{status: http.StatusOK, body: map[string]any{"server": view{
		"id": s.id, "name": s.name, "status": "ACTIVE", "tenant_id": uuidOf("project"), "user_id": uuidOf("user"),
		"metadata": map[string]string{}, "OS-EXT-AZ:availability_zone": s.zone, "os-extended-volumes:volumes_attached": attached,
	}}}, nil
}

func (c *Cloud) listAttachments(request *http.Request) (answer, error) {
	s, err := c.serverOf(request.PathValue("server"))
	if err != nil {
		return answer{}, err
	}
	attached := []view{}
	for _, v := range c.volumes {
		for _, a := range v.attachments {
			if a.server == s.id {
				attached = append(attached, attachmentView(v, a))
			}
		}
	}
	return answer{status: http.StatusOK, body: map[string]any{"volumeAttachments": attached}}, nil
}

func attachmentView(v *volume, a attachment) view {
	return view{"id": v.id, "volumeId": v.id, "serverId": a.server, "device": a.device}
}

func (c *Cloud) attach(request *http.Request) (answer, error) {
	s, err := c.serverOf(request.PathValue("server"))
	if err != nil {
		return answer{}, err
	}
	type asked struct {
		Attachment struct {
			VolumeID string `json:"volumeId"`
		} `json:"volumeAttachment"`
	}
	body, err := read[asked](request)
	if err != nil {
		return answer{}, err
	}
	v, err := c.volumeOf(body.Attachment.VolumeID)
	if err != nil {
		return answer{}, err
	}
	if err := v.checkAttach(s, request); err != nil {
		return answer{}, err
	}
	before := v.status
	v.status = "attaching"
	a := attachment{server: s.id, device: c.freeDevice(s), at: time.Now()}
	c.then(&v.pending, "attaching", func() error {
		if err := v.show(s, a); err != nil {
			v.status = before
			return err
		}
		v.attachments = append(v.attachments, a)
		v.status = "in-use"
		return nil
	}, v.becomes(before))
	return answer{status: http.StatusOK, body: map[string]any{"volumeAttachment": attachmentView(v, a)}}, settle(&v.pending, false)
}

func (v *volume) checkAttach(s *server, request *http.Request) error {
	switch {
	case v.multiattach && !atLeast(request, "OpenStack-API-Version", "compute", 60):
		return refuse(http.StatusBadRequest, "Multiattach volumes are only supported starting with compute API version 2.60.")
	case v.attachedTo(s.id):
		return refuse(http.StatusBadRequest, "Invalid volume: volume %s already attached", v.id)
	case v.status == "available", v.multiattach && v.status == "in-use":
		return nil
	}
	return refuse(http.StatusBadRequest, "Invalid volume: volume '%s' status must be 'available'. Currently in '%s'", v.id, v.status)
}

func (c *Cloud) detach(request *http.Request) (answer, error) {
	s, err := c.serverOf(request.PathValue("server"))
	if err != nil {
		return answer{}, err
	}
	v, err := c.volumeOf(request.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	i := slices.IndexFunc(v.attachments, func(a attachment) bool { return a.server == s.id })
	switch {
	case i < 0:
		return answer{}, refuse(http.StatusNotFound, "The requested volume %s is not attached to server %s", v.id, s.id)
	case v.status != "in-use":
		return answer{}, refuse(http.StatusBadRequest, "Invalid volume: Invalid input received: Invalid volume: Unable to detach volume. Volume status must be 'in-use' and attach_status must be 'attached' to detach.")
	}
	v.status = "detaching"
	c.then(&v.pending, "detaching", func() error {
		a := v.attachments[i]
		v.attachments = slices.Delete(v.attachments, i, i+1)
		v.status = "in-use"
		if len(v.attachments) == 0 {
			v.status = "available"
		}
		return v.hide(s, a)
	}, v.becomes("in-use"))
	return answer{status: http.StatusAccepted}, settle(&v.pending, false)
}

func (v *volume) attachedTo(server string) bool {
	return slices.ContainsFunc(v.attachments, func(a attachment) bool { return a.server == server })
}

// freeDevice returns the first device name of a server without a volume; /dev/vda is its disk.
func (c *Cloud) freeDevice(s *server) string {
	for letter := 'b'; ; letter++ {
		device := "/dev/vd" + string(letter)
		taken := slices.ContainsFunc(c.volumes, func(v *volume) bool {
			return slices.ContainsFunc(v.attachments, func(a attachment) bool { return a.server == s.id && a.device == device })
		})
		if !taken {
			return device
		}
	}
}
