package incident_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/incident"
	"github.com/csisim/csisim/internal/incident/explain"
)

const (
	podYAML = `apiVersion: v1
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: csi-node-x, namespace: csi, creationTimestamp: "2026-11-28T10:00:00Z"}
  spec: {nodeName: node-a}
- apiVersion: v1
  kind: Pod
  metadata: {name: web, namespace: shop, uid: u1, creationTimestamp: "2026-11-28T12:00:00Z"}
  spec: {nodeName: node-a}
kind: PodList
`
	hungCall = `2026-11-28T12:00:10.000000000Z I1128 12:00:10.000000       1 utils.go:195] ID: 7 Req-ID: vol-1 GRPC call: /csi.v1.Node/NodeStageVolume
2026-11-28T12:00:10.000000000Z I1128 12:00:10.000100       1 utils.go:196] ID: 7 Req-ID: vol-1 GRPC request: {"staging_target_path":"/var/lib/kubelet/plugins/kubernetes.io/csi/rbd/x/globalmount","volume_id":"vol-1"}
2026-11-28T12:09:10.000000000Z I1128 12:09:10.000000       1 utils.go:195] ID: 8 Req-ID: x GRPC call: /csi.v1.Identity/Probe
2026-11-28T12:09:10.000000000Z I1128 12:09:10.000100       1 utils.go:202] ID: 8 Req-ID: x GRPC response: {}
`
	kubeletLine = `Nov 28 12:00:09.500000 node-a kubenswrapper[1234]: I1128 12:00:09.500000    1234 operation_generator.go:1466] "Controller attach succeeded for volume \"pvc-1\" (UniqueName: \"kubernetes.io/csi/rbd.csi.ceph.com^vol-1\") pod \"web\" (UID: \"u1\") device path: \"csi-1\"" pod="shop/web"
`
)

// archived packs files as must-gather and kubectl write them.
func archived(t *testing.T, files map[string]string) string {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		head := &tar.Header{Name: name, Size: int64(len(files[name])), Mode: 0o644, Typeflag: tar.TypeReg, ModTime: time.Date(2026, 11, 28, 13, 0, 0, 0, time.UTC)}
		require.NoError(t, w.WriteHeader(head))
		_, err := w.Write([]byte(files[name]))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, zipped.Close())
	file := filepath.Join(t.TempDir(), "dump.tar.gz")
	require.NoError(t, os.WriteFile(file, out.Bytes(), 0o600))
	return file
}

// Given an archive with the layout of a tool, then the driver's log belongs to the node of its pod,
// and the hanging call in it is found, although the archive has logs before objects.
func TestLayoutsOfDumps(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
	}{
		{"must-gather", map[string]string{
			"must-gather.local.1/quay/namespaces/csi/pods/csi-node-x/csi-rbdplugin/csi-rbdplugin/logs/current.log": hungCall,
			"must-gather.local.1/quay/namespaces/csi/core/pods.yaml":                                               podYAML,
			"must-gather.local.1/quay/host_service_logs/masters/kubelet_service.log":                               kubeletLine,
		}},
		{"kubectl cluster-info dump", map[string]string{
			"dump/csi/csi-node-x/logs.txt": "==== START logs for container csi-rbdplugin of pod csi/csi-node-x ====\n" + hungCall + "==== END logs for container csi-rbdplugin of pod csi/csi-node-x ====\n",
			"dump/csi/pods.json":           `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"csi-node-x","namespace":"csi","creationTimestamp":"2026-11-28T10:00:00Z"},"spec":{"nodeName":"node-a"}}]}`,
			"dump/journal.log":             kubeletLine,
		}},
		{"files of the kubelet", map[string]string{
			"var/log/pods/csi_csi-node-x_12345678-1234-1234-1234-123456789012/csi-rbdplugin/0.log": strings.ReplaceAll(hungCall, "Z I1128", "Z stderr F I1128"),
			"pods.yaml":   podYAML,
			"journal.log": kubeletLine,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			r, err := incident.Run(t.Context(), incident.Options{Paths: []string{archived(t, c.files)}}, &out)
			require.NoError(t, err)
			assert.Equal(t, 4, r.Programs["ceph-csi"])
			assert.Equal(t, 1, r.Programs["kubelet"])
			story, err := explain.Read(&out)
			require.NoError(t, err)
			report := story.Explain()
			require.Len(t, report.Findings, 1, textOf(t, report))
			assert.Contains(t, report.Findings[0].Title, "NodeStageVolume has not returned for volume pvc-1 on node-a")
			assert.Equal(t, "driver rbd.csi.ceph.com", report.Findings[0].Component)
		})
	}
}
