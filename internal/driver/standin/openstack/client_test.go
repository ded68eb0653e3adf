package openstack_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/driver/standin"
	"github.com/csisim/csisim/internal/driver/standin/openstack"
	"github.com/csisim/csisim/internal/driver/standin/standintest"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/namespaces"
)

func TestMain(m *testing.M) {
	namespaces.Enter()
	os.Exit(m.Run())
}

// client is a client of a cloud, with the cloud's reports.
type client struct {
	t        *testing.T
	cloud    *openstack.Cloud
	base     string
	password string
	token    string
	headers  map[string]string
}

func start(t *testing.T, o openstack.Options) *client {
	require.NoError(t, o.Check())
	cloud := openstack.New(o)
	require.NoError(t, cloud.Start(t.TempDir()))
	t.Cleanup(func() { require.NoError(t, cloud.Stop()) })
	c := &client{t: t, cloud: cloud, headers: map[string]string{}}
	found := regexp.MustCompile(`(?s)auth-url = (http://[^/]+)/identity/v3.*password = (\S+)`).FindStringSubmatch(cloud.ClientConfig())
	require.Len(t, found, 3)
	c.base, c.password = found[1], found[2]
	return c
}

func login(t *testing.T, o openstack.Options) *client {
	c := start(t, o)
	response := c.send("POST", "/identity/v3/auth/tokens", credentials("csisim", c.password, "csisim"))
	require.Equal(t, http.StatusCreated, response.StatusCode)
	c.token = response.Header.Get("X-Subject-Token")
	return c
}

func credentials(user, password, project string) string {
	return fmt.Sprintf(`{"auth": {"identity": {"methods": ["password"], "password": {"user": {"name": %q, "password": %q, "domain": {"name": "Default"}}}}, "scope": {"project": {"name": %q, "domain": {"name": "Default"}}}}}`, user, password, project)
}

func (c *client) send(method, path, body string) *http.Response {
	c.t.Helper()
	request, err := http.NewRequest(method, c.base+path, bytes.NewBufferString(body))
	require.NoError(c.t, err)
	request.Header.Set("X-Auth-Token", c.token)
	for name, value := range c.headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(c.t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(c.t, err)
	response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(text))
	return response
}

// ask sends a request and returns the status and the body. ID matches an id.
func (c *client) ask(method, path, body string) (int, map[string]any) {
	c.t.Helper()
	response := c.send(method, path, body)
	var decoded map[string]any
	if err := json.NewDecoder(response.Body).Decode(&decoded); err != nil {
		require.ErrorIs(c.t, err, io.EOF)
	}
	return response.StatusCode, decoded
}

// refused sends a request that must be rejected, and returns the message.
func (c *client) refused(method, path, body string) string {
	c.t.Helper()
	status, answer := c.ask(method, path, body)
	require.Len(c.t, answer, 1, "%v", answer)
	for kind, said := range answer {
		fault, ok := said.(map[string]any)
		require.True(c.t, ok, "%v", answer)
		assert.EqualValues(c.t, status, fault["code"])
		return fmt.Sprintf("%d %s: %s", status, kind, fault["message"])
	}
	return ""
}

// volume creates a volume and returns its id.
func (c *client) volume(fields string) string {
	c.t.Helper()
	status, answer := c.ask("POST", "/volume/v3/volumes", `{"volume": {`+fields+`}}`)
	require.Equal(c.t, http.StatusAccepted, status, "%v", answer)
	made := answer["volume"].(map[string]any)
	assert.Equal(c.t, "creating", made["status"])
	return made["id"].(string)
}

func (c *client) snapshot(fields string) string {
	c.t.Helper()
	status, answer := c.ask("POST", "/volume/v3/snapshots", `{"snapshot": {`+fields+`}}`)
	require.Equal(c.t, http.StatusAccepted, status, "%v", answer)
	return answer["snapshot"].(map[string]any)["id"].(string)
}

// status returns the status of a volume or snapshot; 404 for a missing one.
func (c *client) status(kind, id string) string {
	c.t.Helper()
	status, answer := c.ask("GET", "/volume/v3/"+kind+"s/"+id, "")
	if status != http.StatusOK {
		return fmt.Sprint(status)
	}
	return answer[kind].(map[string]any)["status"].(string)
}

// boot adds a node to the cloud and returns its server's id.
func (c *client) boot(name string) (server string, node machine.Machine) {
	c.t.Helper()
	if os.Geteuid() != 0 {
		c.t.Skip("mounting needs root")
	}
	node, err := machine.NewNamespace(name, filepath.Join(c.t.TempDir(), name), false)
	require.NoError(c.t, err)
	c.t.Cleanup(func() { require.NoError(c.t, node.Close()) })
	require.NoError(c.t, c.cloud.Furnish(standin.Node{Name: name, Zone: "zone-a", Machine: node}))
	var metadata struct {
		UUID string
		Zone string `json:"availability_zone"`
	}
	point := machine.KubeletDir + "/drive"
	require.NoError(c.t, node.MkdirAll(point, 0o755))
	exit, output := standintest.Run(c.t, node, "mount", "-t", "iso9660", "-o", "ro", "/dev/disk/by-label/config-2", point)
	require.Equal(c.t, "exit status 0", exit, output)
	text, err := node.ReadFile(point + "/openstack/latest/meta_data.json")
	require.NoError(c.t, err)
	require.NoError(c.t, json.Unmarshal(text, &metadata))
	require.Equal(c.t, "zone-a", metadata.Zone)
	require.NoError(c.t, node.Unmount(point))
	return metadata.UUID, node
}

// attach attaches a volume to a server and returns the device.
func (c *client) attach(server, volume string) string {
	c.t.Helper()
	status, answer := c.ask("POST", attachments(server), attachBody(volume))
	require.Equal(c.t, http.StatusOK, status, "%v", answer)
	return answer["volumeAttachment"].(map[string]any)["device"].(string)
}

func attachments(server string) string {
	return "/compute/v2.1/servers/" + server + "/os-volume_attachments"
}

func attachBody(volume string) string {
	return `{"volumeAttachment": {"volumeId": "` + volume + `"}}`
}
