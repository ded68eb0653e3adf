package live

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

const firstHour = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: main, image: nginx, volumeMounts: [{name: v, mountPath: /data}]}]
  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]
---
apiVersion: snapshot.storage.k8s.io/v1
kind: VolumeSnapshot
metadata: {name: s}
spec: {source: {persistentVolumeClaimName: data}}
`

// A cluster without a scenario file supports resizing and snapshots immediately, and lists the
// containers without programs.
func TestTheDefaultClusterSufficesForAFirstHour(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("there is no kubectl")
	}
	l := startUp(t, "--speed", "10")
	file := filepath.Join(l.home, "first.yaml")
	require.NoError(t, os.WriteFile(file, []byte(firstHour), 0o600))
	l.kubectl("apply", "-f", file)
	l.kubectl("wait", "--for=condition=Ready", "pod/web", "--timeout=60s")
	l.kubectl("wait", "--for=jsonpath={.status.readyToUse}=true", "volumesnapshot/s", "--timeout=60s")
	l.kubectl("patch", "pvc", "data", "-p", `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`)
	l.kubectl("wait", "--for=jsonpath={.status.capacity.storage}=2Gi", "pvc/data", "--timeout=60s")

	const remedy = "(map its image under images, or use csisim up --pull)"
	assert.Equal(t, "csisim: container main runs no program, so it writes no log "+remedy+"\n", l.kubectl("logs", "web"))
	for _, args := range [][]string{{"exec", "web", "--", "ls"}, {"cp", "web:/data/file", filepath.Join(l.home, "file")}, {"port-forward", "pod/web", "0:80"}} {
		out, err := l.runKubectl(args...)
		assert.Error(t, err, args)
		assert.Contains(t, out, remedy, args)
	}
	assert.Regexp(t, `node-a .* csisim +6\.12\.0-csisim \(amd64\) +csisim://v1\.`, l.kubectl("get", "nodes", "-o", "wide"))

	down := clitest.RunIn(t, l.environment(), "down", "--kubeconfig", l.kubeconfig())
	require.Zero(t, down.Code, down.Stderr)
	assert.Zero(t, l.awaitEnd(), l.output.String())
	others := filepath.Join(l.home, "others")
	require.NoError(t, os.WriteFile(others, []byte("{apiVersion: v1, kind: Config, contexts: [{name: prod, context: {cluster: prod}}]}"), 0o600))
	again := clitest.RunIn(t, l.environment(), "down", "--kubeconfig", others)
	assert.Equal(t, clitest.ExitInput, again.Code)
	assert.Regexp(t, `--kubeconfig .*: found the contexts \["prod"\], want one of a cluster that csisim up describes in .*/csisim/up\n`, again.Stderr)
	manifest := clitest.RunIn(t, l.environment(), "down", "--kubeconfig", file)
	assert.Equal(t, clitest.ExitInput, manifest.Code)
	assert.Contains(t, manifest.Stderr, "first.yaml: it is no kubeconfig: ")
}
