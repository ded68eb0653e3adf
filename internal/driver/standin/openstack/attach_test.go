package openstack_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/driver/standin"
	"github.com/csisim/csisim/internal/driver/standin/openstack"
	"github.com/csisim/csisim/internal/driver/standin/standintest"
	"github.com/csisim/csisim/internal/world/machine"
)

// devices returns the names of the disks that a node finds by their serial numbers.
func devices(t *testing.T, node machine.Machine) []string {
	_, output := standintest.Run(t, node, "ls", "/dev/disk/by-id")
	return strings.Fields(output)
}

func TestAnAttachedVolumeIsADeviceOfItsServerOnly(t *testing.T) {
	c := login(t, openstack.Options{})
	a, nodeA := c.boot("node-a")
	b, nodeB := c.boot("node-b")
	hostBefore, err := os.ReadDir("/dev")
	require.NoError(t, err)
	id := c.volume(`"name": "data", "size": 1`)
	name := "virtio-" + id[:20]

	assert.Equal(t, "/dev/vdb", c.attach(a, id))
	assert.Equal(t, "in-use", c.status("volume", id))
	assert.Equal(t, []string{name}, devices(t, nodeA))
	assert.Empty(t, devices(t, nodeB))
	_, answer := c.ask("GET", "/volume/v3/volumes/"+id, "")
	attached := answer["volume"].(map[string]any)["attachments"].([]any)[0].(map[string]any)
	assert.Equal(t, a, attached["server_id"])
	assert.Equal(t, "/dev/vdb", attached["device"])
	exit, output := standintest.Run(t, nodeA, "sh", "-c", "echo hello >/dev/disk/by-id/"+name)
	require.Equal(t, "exit status 0", exit, output)

	status, _ := c.ask("DELETE", attachments(a)+"/"+id, "")
	require.Equal(t, http.StatusAccepted, status)
	assert.Equal(t, "available", c.status("volume", id))
	assert.Empty(t, devices(t, nodeA))
	c.attach(b, id)
	exit, output = standintest.Run(t, nodeB, "head", "-c", "5", "/dev/disk/by-id/"+name)
	assert.Equal(t, "exit status 0: hello", exit+": "+output, "data written on one server is there on the next")
	hostAfter, err := os.ReadDir("/dev")
	require.NoError(t, err)
	assert.Equal(t, diskNames(hostBefore), diskNames(hostAfter), "the host has no such device")
}

// diskNames returns the virtual disks of a /dev.
func diskNames(entries []os.DirEntry) []string {
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "vd") || e.Name() == "disk" {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestComputeRefusesInvalidRequests(t *testing.T) {
	c := login(t, openstack.Options{Types: []string{"shared"}, Multiattach: []string{"shared"}})
	a, _ := c.boot("node-a")
	b, _ := c.boot("node-b")
	id := c.volume(`"name": "data", "size": 1`)
	free := c.volume(`"name": "free", "size": 1`)
	shared := c.volume(`"name": "shared", "size": 1, "volume_type": "shared"`)
	c.attach(a, id)
	for _, r := range []struct{ what, request, body, want string }{
		{"an unknown server", "GET /compute/v2.1/servers/none", "", "404 itemNotFound: Instance none could not be found."},
		{"to attach to an unknown server", "POST " + attachments("none"), attachBody(id), "404 itemNotFound: Instance none could not be found."},
		{"to attach an unknown volume", "POST " + attachments(a), attachBody("none"), "404 itemNotFound: Volume none could not be found."},
		{"to attach twice", "POST " + attachments(a), attachBody(id), "400 badRequest: Invalid volume: volume " + id + " already attached"},
		{"to attach elsewhere, too", "POST " + attachments(b), attachBody(id), "400 badRequest: Invalid volume: volume '" + id + "' status must be 'available'. Currently in 'in-use'"},
		{"to detach a detached volume", "DELETE " + attachments(a) + "/" + free, "", "404 itemNotFound: The requested volume " + free + " is not attached to server " + a},
		{"to detach from another server", "DELETE " + attachments(b) + "/" + id, "", "404 itemNotFound: The requested volume " + id + " is not attached to server " + b},
		{"to delete an attached volume", "DELETE /volume/v3/volumes/" + id, "", "400 badRequest: Invalid volume: Volume status must be available"},
		{"to extend an attached volume", "POST /volume/v3/volumes/" + id + "/action", `{"os-extend": {"new_size": 2}}`, "400 badRequest: Invalid volume: Volume " + id + " status must be '{'status': 'available'}' to extend, currently in-use."},
		{"a snapshot of an attached volume", "POST /volume/v3/snapshots", `{"snapshot": {"volume_id": "` + id + `"}}`, "400 badRequest: Invalid volume: Volume " + id + " status must be available, but current status is: in-use."},
		{"multiattach to an old client", "POST " + attachments(a), attachBody(shared), "400 badRequest: Multiattach volumes are only supported starting with compute API version 2.60."},
	} {
		method, path, _ := strings.Cut(r.request, " ")
		assert.Equal(t, r.want, c.refused(method, path, r.body)[:len(r.want)], r.what)
	}
	c.snapshot(`"name": "forced", "force": true, "volume_id": "` + id + `"`)

	c.headers["OpenStack-API-Version"] = "compute 2.60"
	c.attach(a, shared)
	c.attach(b, shared)
	assert.Equal(t, "in-use", c.status("volume", shared))
	status, _ := c.ask("DELETE", attachments(a)+"/"+shared, "")
	require.Equal(t, http.StatusAccepted, status)
	assert.Equal(t, "in-use", c.status("volume", shared), "it is attached to the other server")
}

func TestAnAttachedVolumeGrowsWithItsDevice(t *testing.T) {
	c := login(t, openstack.Options{})
	a, node := c.boot("node-a")
	id := c.volume(`"name": "data", "size": 1`)
	device := c.attach(a, id)
	c.headers["OpenStack-API-Version"] = "volume 3.42"
	status, _ := c.ask("POST", "/volume/v3/volumes/"+id+"/action", `{"os-extend": {"new_size": 2}}`)
	require.Equal(t, http.StatusAccepted, status)
	assert.Equal(t, "in-use", c.status("volume", id))
	_, output := standintest.Run(t, node, "blockdev", "--getsize64", device)
	assert.Equal(t, "2147483648", output)
}

func TestVolumesOfSnapshotsAndVolumesHaveTheirContent(t *testing.T) {
	c := login(t, openstack.Options{})
	a, node := c.boot("node-a")
	id := c.volume(`"name": "data", "size": 1`)
	exit, output := standintest.Run(t, node, "sh", "-c", "echo first >"+c.attach(a, id)+"; sync")
	require.Equal(t, "exit status 0", exit, output)
	snapshot := c.snapshot(`"name": "s", "force": true, "volume_id": "` + id + `"`)
	exit, output = standintest.Run(t, node, "sh", "-c", "echo other >/dev/vdb; sync")
	require.Equal(t, "exit status 0", exit, output)
	for _, from := range []struct{ source, want string }{
		{`"snapshot_id": "` + snapshot + `"`, "first"}, {`"source_volid": "` + id + `"`, "other"},
	} {
		copied := c.attach(a, c.volume(`"name": "copy", "size": 2, `+from.source))
		_, output := standintest.Run(t, node, "head", "-c", "5", copied)
		assert.Equal(t, from.want, output)
	}
}

func TestAServerWithoutPowerKeepsItsVolumes(t *testing.T) {
	c := login(t, openstack.Options{})
	a, node := c.boot("node-a")
	kept, given := c.volume(`"name": "kept", "size": 1`), c.volume(`"name": "given", "size": 1`)
	c.attach(a, kept)
	before, err := os.ReadDir("/dev")
	require.NoError(t, err)
	require.NoError(t, node.PowerOff())
	c.attach(a, given)
	status, _ := c.ask("DELETE", attachments(a)+"/"+given, "")
	assert.Equal(t, http.StatusAccepted, status)
	assert.Equal(t, []string{"virtio-" + kept[:20]}, devices(t, node))
	after, err := os.ReadDir("/dev")
	require.NoError(t, err)
	assert.Equal(t, diskNames(before), diskNames(after), "all of that is in its own /dev")
}

func TestInjectedFailuresOfAttachAndDetach(t *testing.T) {
	c := login(t, openstack.Options{})
	a, node := c.boot("node-a")
	id := c.volume(`"name": "data", "size": 1`)
	require.NoError(t, c.cloud.Fail(standin.Failure{Operation: "attaching", Times: 1}))
	require.NoError(t, c.cloud.Fail(standin.Failure{Operation: "detaching", Times: 1}))
	c.attach(a, id)
	assert.Equal(t, "available", c.status("volume", id))
	assert.Empty(t, devices(t, node))
	c.attach(a, id)
	assert.Equal(t, "in-use", c.status("volume", id))
	status, _ := c.ask("DELETE", attachments(a)+"/"+id, "")
	assert.Equal(t, http.StatusAccepted, status)
	assert.Equal(t, "in-use", c.status("volume", id))
	assert.Len(t, devices(t, node), 1)
}

func TestStopFreesTheLoopDevices(t *testing.T) {
	c := login(t, openstack.Options{})
	a, node := c.boot("node-a")
	c.attach(a, c.volume(`"name": "data", "size": 1`))
	_, number := standintest.Run(t, node, "stat", "-c", "%Hr:%Lr", "/dev/vdb")
	loop := "/sys/dev/block/" + number + "/loop/backing_file"
	require.FileExists(t, loop)
	require.NoError(t, node.PowerOff())
	require.NoError(t, c.cloud.Stop())
	assert.NoFileExists(t, loop)
}
