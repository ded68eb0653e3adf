package apiserver_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const (
	groupsRoot  = "/apis/groupsnapshot.storage.k8s.io/"
	groupsV1    = groupsRoot + "v1/namespaces/default/volumegroupsnapshots"
	contentsV1  = groupsRoot + "v1/volumegroupsnapshotcontents"
	aGroup      = `{apiVersion: groupsnapshot.storage.k8s.io/VERSION, kind: VolumeGroupSnapshot, metadata: {name: VERSION}, spec: {source: {selector: {matchLabels: {app: db}}}, volumeGroupSnapshotClassName: fast}}`
	aGroupClass = `{apiVersion: groupsnapshot.storage.k8s.io/VERSION, kind: VolumeGroupSnapshotClass, metadata: {name: VERSION}, driver: d, deletionPolicy: Delete}`
)

// C-GSNAP-1: group snapshots are served in three versions; the first is deprecated. An object is
// the same in all of them.
func TestGroupSnapshotsInAllTheirVersions(t *testing.T) {
	c := converse(t)
	group := c.say("GET", "/apis/groupsnapshot.storage.k8s.io", "", "")
	var versions []string
	for _, v := range group.field("versions").([]any) {
		versions = append(versions, v.(map[string]any)["version"].(string))
	}
	assert.Equal(t, []string{"v1", "v1beta2", "v1beta1"}, versions)
	assert.Equal(t, "v1", group.field("preferredVersion", "version"))

	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			in := func(path string) string { return strings.Replace(path, "/v1/", "/"+version+"/", 1) }
			written := func(text string) string { return strings.ReplaceAll(text, "VERSION", version) }
			warning := ""
			if version == "v1beta1" {
				warning = `299 - "groupsnapshot.storage.k8s.io/v1beta1 VolumeGroupSnapshot is deprecated; use groupsnapshot.storage.k8s.io/v1 VolumeGroupSnapshot"`
			}
			made := c.post(in(groupsV1), written(aGroup))
			assert.Equal(t, "groupsnapshot.storage.k8s.io/"+version, made.field("apiVersion"))
			assert.Equal(t, warning, made.header.Get("Warning"))
			c.post(in(groupsRoot+"v1/volumegroupsnapshotclasses"), written(aGroupClass))
			for _, other := range versions {
				there := c.say("GET", strings.Replace(groupsV1, "/v1/", "/"+other+"/", 1)+"/"+version, "", "")
				assert.Equal(t, "groupsnapshot.storage.k8s.io/"+other, there.field("apiVersion"))
				assert.Equal(t, "fast", there.field("spec", "volumeGroupSnapshotClassName"))
				assert.Equal(t, made.field("metadata", "uid"), there.field("metadata", "uid"))
			}
			list := c.say("GET", in(groupsV1), "", "")
			assert.Equal(t, "VolumeGroupSnapshotList", list.field("kind"))
			assert.Equal(t, "groupsnapshot.storage.k8s.io/"+version, list.field("apiVersion"))

			wrong := c.say("POST", groupsV1, "application/yaml", strings.Replace(written(aGroup), "{name:", "{labels: {}, name: x", 1))
			if version != "v1" {
				assert.Equal(t, http.StatusBadRequest, wrong.code, "the path says otherwise")
			}
		})
	}
}

// C-GSNAP-1: fields that are owned in one version are owned in another, and each version shows only
// its own fields.
func TestFieldsOfGroupSnapshotsInOtherVersions(t *testing.T) {
	c := converse(t)
	apply := func(version, manager, class string) said {
		body := strings.ReplaceAll(strings.Replace(aGroup, "{name: VERSION}", "{name: g}", 1), "VERSION", version)
		return c.say("PATCH", strings.Replace(groupsV1, "/v1/", "/"+version+"/", 1)+"/g?fieldManager="+manager,
			"application/apply-patch+yaml", strings.Replace(body, "fast", class, 1))
	}
	assert.Equal(t, http.StatusCreated, apply("v1beta2", "one", "fast").code)
	conflict := apply("v1", "two", "slow")
	assert.Equal(t, http.StatusConflict, conflict.code)
	assert.Equal(t, `Apply failed with 1 conflict: conflict with "one": .spec.volumeGroupSnapshotClassName`, conflict.field("message"))

	c.post(contentsV1, `{apiVersion: groupsnapshot.storage.k8s.io/v1, kind: VolumeGroupSnapshotContent, metadata: {name: c},
  spec: {volumeGroupSnapshotRef: {namespace: default, name: g}, deletionPolicy: Delete, driver: d, source: {volumeHandles: [a]}}}`)
	const status = `{"status": {"volumeGroupSnapshotHandle": "g-1", "volumeSnapshotInfoList": [{"volumeHandle": "a", "snapshotHandle": "s-1"}]}}`
	answer := c.say("PATCH", contentsV1+"/c/status", "application/merge-patch+json", status)
	assert.Equal(t, http.StatusOK, answer.code, answer.text)
	for version, shown := range map[string]bool{"v1": true, "v1beta2": true, "v1beta1": false} {
		there := c.say("GET", strings.Replace(contentsV1, "/v1/", "/"+version+"/", 1)+"/c", "", "")
		assert.Equal(t, "g-1", there.field("status", "volumeGroupSnapshotHandle"))
		assert.Equal(t, shown, there.field("status", "volumeSnapshotInfoList") != nil, version)
	}
}
