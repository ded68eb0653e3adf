package ledger

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// K-PATH-3 to K-PATH-5
func TestDirOfNamesTheKubeletOfAPath(t *testing.T) {
	for path, want := range map[string]Dir{
		"/data/kubelet/pods/u1/volumes/kubernetes.io~csi/data/mount":                  "/data/kubelet",
		"/data/kubelet/pods/u1/volumes/kubernetes.io~csi/pods/mount":                  "/data/kubelet",
		"/data/kubelet/pods/u1/volume-subpaths/pods/c/0":                              "/data/kubelet",
		"/data/kubelet/plugins/kubernetes.io/csi/d.example.com/0a/globalmount":        "/data/kubelet",
		"/data/kubelet/plugins/kubernetes.io/csi/volumeDevices/staging/pods/x":        "/data/kubelet",
		"/data/kubelet/plugins/kubernetes.io/csi/volumeDevices/publish/pvc-1/pods/u1": "/data/kubelet",
		"/mnt/somewhere": "/var/lib/kubelet",
	} {
		assert.Equal(t, want, DirOf(path), path)
	}
}
