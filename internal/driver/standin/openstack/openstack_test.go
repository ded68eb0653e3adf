package openstack_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/driver/standin"
	"github.com/csisim/csisim/internal/driver/standin/openstack"
)

func TestIdentityGivesTokensToItsUserOnly(t *testing.T) {
	c := start(t, openstack.Options{})
	const refused = "401 error: The request you have made requires authentication."
	for _, body := range []string{
		credentials("csisim", "guessed", "csisim"),
		credentials("other", c.password, "csisim"),
		credentials("csisim", c.password, "other"),
	} {
		assert.Equal(t, refused, c.refused("POST", "/identity/v3/auth/tokens", body))
	}
	assert.Equal(t, refused, c.refused("GET", "/volume/v3/volumes/detail", ""))
	c.token = "guessed"
	assert.Equal(t, refused, c.refused("GET", "/compute/v2.1/servers/x", ""))

	response := c.send("POST", "/identity/v3/auth/tokens", credentials("csisim", c.password, "csisim"))
	require.Equal(t, http.StatusCreated, response.StatusCode)
	c.token = response.Header.Get("X-Subject-Token")
	status, _ := c.ask("GET", "/volume/v3/volumes/detail", "")
	assert.Equal(t, http.StatusOK, status)
	other := start(t, openstack.Options{})
	assert.NotEqual(t, c.password, other.password, "each run has its own password")
}

func TestTheCatalogLeadsToTheServices(t *testing.T) {
	c := start(t, openstack.Options{})
	_, answer := c.ask("POST", "/identity/v3/auth/tokens", credentials("csisim", c.password, "csisim"))
	found := map[string]string{}
	for _, service := range answer["token"].(map[string]any)["catalog"].([]any) {
		s := service.(map[string]any)
		endpoint := s["endpoints"].([]any)[0].(map[string]any)
		assert.Equal(t, "public", endpoint["interface"])
		assert.Equal(t, "RegionOne", endpoint["region"])
		found[s["type"].(string)] = strings.TrimPrefix(endpoint["url"].(string), c.base)
	}
	assert.Equal(t, map[string]string{"identity": "/identity/v3", "block-storage": "/volume/v3", "compute": "/compute/v2.1"}, found)
}

func TestBlockStorageRefusesInvalidRequests(t *testing.T) {
	c := login(t, openstack.Options{Types: []string{"fast"}})
	id := c.volume(`"name": "data", "size": 2`)
	snapshot := c.snapshot(`"name": "before", "volume_id": "` + id + `"`)
	plain := c.volume(`"name": "plain", "size": 2`)
	for _, r := range []struct{ what, request, body, want string }{
		{"an unknown volume", "GET /volumes/none", "", "404 itemNotFound: Volume none could not be found."},
		{"an unknown volume's deletion", "DELETE /volumes/none", "", "404 itemNotFound: Volume none could not be found."},
		{"an unknown snapshot", "GET /snapshots/none", "", "404 itemNotFound: Snapshot none could not be found."},
		{"an unknown snapshot's deletion", "DELETE /snapshots/none", "", "404 itemNotFound: Snapshot none could not be found."},
		{"text that is not JSON", "POST /volumes", "{", "400 badRequest: Malformed request body: unexpected EOF"},
		{"an unknown type", "POST /volumes", `{"volume": {"size": 1, "volume_type": "slow"}}`, "404 itemNotFound: Volume type with name slow could not be found."},
		{"an unknown zone", "POST /volumes", `{"volume": {"size": 1, "availability_zone": "moon"}}`, "400 badRequest: Invalid input received: Availability zone 'moon' is invalid."},
		{"no size", "POST /volumes", `{"volume": {"size": -1}}`, "400 badRequest: Invalid input received: Volume size '-1GB' cannot be smaller than original volume size  1GB. They must be >= original volume size."},
		{"an unknown source snapshot", "POST /volumes", `{"volume": {"size": 2, "snapshot_id": "none"}}`, "404 itemNotFound: Snapshot none could not be found."},
		{"an unknown source volume", "POST /volumes", `{"volume": {"size": 2, "source_volid": "none"}}`, "404 itemNotFound: Volume none could not be found."},
		{"less than the snapshot", "POST /volumes", `{"volume": {"size": 1, "snapshot_id": "` + snapshot + `"}}`, "400 badRequest: Invalid input received: Volume size '1GB' cannot be smaller than original volume size  2GB. They must be >= original volume size."},
		{"a volume with snapshots", "DELETE /volumes/" + id, "", "400 badRequest: Invalid volume: Volume status must be available or error or"},
		{"an extension that is none", "POST /volumes/" + plain + "/action", `{"os-extend": {"new_size": 2}}`, "400 badRequest: Invalid input received: New size for extend must be greater than current size. (current: 2, extended: 2)."},
		{"an unknown action", "POST /volumes/" + plain + "/action", `{"os-fly": {}}`, "400 badRequest: There is no such action"},
		{"a snapshot of nothing", "POST /snapshots", `{"snapshot": {"volume_id": "none"}}`, "404 itemNotFound: Volume none could not be found."},
		{"a marker that is none", "GET /volumes/detail?marker=none", "", "404 itemNotFound: Marker none could not be found."},
		{"a limit that is none", "GET /volumes/detail?limit=few", "", "400 badRequest: Invalid input received: limit must be an integer or greater than 0"},
		{"a backup", "GET /backups/none", "", "404 itemNotFound: Backup none could not be found."},
		{"a new backup", "POST /backups", "{}", "503 serviceUnavailable: Service cinder-backup could not be found."},
	} {
		method, path, _ := strings.Cut(r.request, " ")
		assert.Contains(t, c.refused(method, "/volume/v3"+path, r.body), r.want, r.what)
	}
}

func TestTheQuotaIsKept(t *testing.T) {
	c := login(t, openstack.Options{Quota: openstack.Quota{Volumes: 2, Gigabytes: 5, Snapshots: 1}})
	id := c.volume(`"name": "a", "size": 1`)
	assert.Contains(t, c.refused("POST", "/volume/v3/volumes", `{"volume": {"size": 5}}`),
		"413 overLimit: VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota. Requested 5G, quota is 5G and 1G has been consumed.")
	c.volume(`"name": "b", "size": 1`)
	assert.Contains(t, c.refused("POST", "/volume/v3/volumes", `{"volume": {"size": 1}}`), "413 overLimit: VolumeLimitExceeded: Maximum number of volumes allowed (2)")
	c.snapshot(`"name": "s", "volume_id": "` + id + `"`)
	assert.Contains(t, c.refused("POST", "/volume/v3/snapshots", `{"snapshot": {"volume_id": "`+id+`"}}`), "413 overLimit: SnapshotLimitExceeded")
	assert.Contains(t, c.refused("POST", "/volume/v3/volumes/"+id+"/action", `{"os-extend": {"new_size": 5}}`), "413 overLimit: VolumeSizeExceedsAvailableQuota")
}

func TestStatesAreReturnedAsOftenAsTheOptionRequires(t *testing.T) {
	c := login(t, openstack.Options{Settle: 2})
	id := c.volume(`"name": "data", "size": 1`)
	seen := []string{c.status("volume", id), c.status("volume", id), c.status("volume", id), c.status("volume", id)}
	assert.Equal(t, []string{"creating", "creating", "creating", "available"}, seen)
	assert.Contains(t, c.refused("DELETE", "/volume/v3/snapshots/"+id, ""), "404")
	snapshot := c.snapshot(`"name": "s", "volume_id": "` + id + `"`)
	assert.Contains(t, c.refused("POST", "/volume/v3/volumes", `{"volume": {"size": 1, "snapshot_id": "`+snapshot+`"}}`), "400 badRequest: Invalid snapshot")
	assert.Contains(t, c.refused("DELETE", "/volume/v3/snapshots/"+snapshot, ""), "400 badRequest: Invalid snapshot: Snapshot status must be available or error")

	atOnce := login(t, openstack.Options{})
	assert.Equal(t, "available", atOnce.status("volume", atOnce.volume(`"name": "data", "size": 1`)))
}

func TestListsAreFilteredAndPaged(t *testing.T) {
	c := login(t, openstack.Options{})
	for i := range 5 {
		c.volume(fmt.Sprintf(`"name": "v%d", "size": 1`, i))
	}
	var names []string
	path := "/volume/v3/volumes/detail?limit=2"
	for path != "" {
		_, answer := c.ask("GET", path, "")
		for _, v := range answer["volumes"].([]any) {
			names = append(names, v.(map[string]any)["name"].(string))
		}
		path = ""
		if links, more := answer["volumes_links"].([]any); more {
			next, err := url.Parse(links[0].(map[string]any)["href"].(string))
			require.NoError(t, err)
			path = next.RequestURI()
		}
	}
	assert.Equal(t, []string{"v0", "v1", "v2", "v3", "v4"}, names)
	_, answer := c.ask("GET", "/volume/v3/volumes/detail?name=v3", "")
	assert.Len(t, answer["volumes"], 1)
	_, answer = c.ask("GET", "/volume/v3/volumes/detail?name=none", "")
	assert.Equal(t, []any{}, answer["volumes"])
}

func TestVolumesGrowAndAreDeleted(t *testing.T) {
	c := login(t, openstack.Options{})
	id := c.volume(`"name": "data", "size": 1`)
	status, _ := c.ask("POST", "/volume/v3/volumes/"+id+"/action", `{"os-extend": {"new_size": 3}}`)
	assert.Equal(t, http.StatusAccepted, status)
	_, answer := c.ask("GET", "/volume/v3/volumes/"+id, "")
	assert.EqualValues(t, 3, answer["volume"].(map[string]any)["size"])
	status, _ = c.ask("DELETE", "/volume/v3/volumes/"+id, "")
	assert.Equal(t, http.StatusAccepted, status)
	assert.Equal(t, "404", c.status("volume", id))
}

func TestIDsAreTheSameInEachRun(t *testing.T) {
	first, second := login(t, openstack.Options{}), login(t, openstack.Options{})
	a := first.volume(`"name": "data", "size": 1`)
	assert.Equal(t, a, second.volume(`"name": "data", "size": 1`))
	assert.NotEqual(t, a, first.volume(`"name": "data", "size": 1`), "two volumes of one name")
	assert.Regexp(t, `^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, a)
}

func TestRequestsAndTransitionsFailOnRequest(t *testing.T) {
	c := login(t, openstack.Options{})
	for _, f := range []standin.Failure{
		{Operation: "create-volume", Times: 1},
		{Operation: "create-volume", Times: 1, Code: 503, Message: "try later"},
		{Operation: "creating", Times: 1},
		{Operation: "deleting", Times: 1},
	} {
		assert.Contains(t, c.cloud.Operations(), f.Operation)
		require.NoError(t, c.cloud.Fail(f))
	}
	const body = `{"volume": {"name": "data", "size": 1}}`
	assert.Contains(t, c.refused("POST", "/volume/v3/volumes", body), "500 computeFault: The server has either erred")
	assert.Equal(t, "503 serviceUnavailable: try later", c.refused("POST", "/volume/v3/volumes", body))
	broken := c.volume(`"name": "broken", "size": 1`)
	assert.Equal(t, "error", c.status("volume", broken))
	id := c.volume(`"name": "data", "size": 1`)
	assert.Equal(t, "available", c.status("volume", id))
	status, _ := c.ask("DELETE", "/volume/v3/volumes/"+id, "")
	assert.Equal(t, http.StatusAccepted, status)
	assert.Equal(t, "error_deleting", c.status("volume", id))

	require.NoError(t, c.cloud.Fail(standin.Failure{Operation: "list-volumes"}))
	for range 3 {
		assert.Contains(t, c.refused("GET", "/volume/v3/volumes/detail", ""), "500 computeFault")
	}
	require.NoError(t, c.cloud.Recover())
	status, _ = c.ask("GET", "/volume/v3/volumes/detail", "")
	assert.Equal(t, http.StatusOK, status)
}

func TestOptionsAreChecked(t *testing.T) {
	assert.NoError(t, openstack.Options{Types: []string{"a"}, Multiattach: []string{"a"}}.Check())
	assert.ErrorContains(t, openstack.Options{Types: []string{"a"}, Multiattach: []string{"b"}}.Check(), `multiattach type "b" is none of types`)
}
