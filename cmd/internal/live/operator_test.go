package live

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

const operated = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: db, image: busybox, volumeMounts: [{name: data, mountPath: /data}]}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

const restored = `
apiVersion: snapshot.storage.k8s.io/v1
kind: VolumeSnapshot
metadata: {name: s}
spec: {source: {persistentVolumeClaimName: data-db-0}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: restored}
spec: {accessModes: [ReadWriteOnce], dataSource: {apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: s}, resources: {requests: {storage: 2Gi}}}
`

// Given a cluster without a scenario file. When an operator uses the commands of a working day,
// then each command has the same effect as on a real cluster, or explains why it has no effect.
func TestAnOperatorWorksWithKubectl(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("there is no kubectl")
	}
	l := startUp(t, "--speed", "10")
	file := func(name, text string) string {
		path := filepath.Join(l.home, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	set := file("set.yaml", operated)
	l.kubectl("apply", "-f", set)
	l.kubectl("rollout", "status", "statefulset/db", "--timeout=60s")

	t.Run("resize", func(t *testing.T) {
		l.kubectl("patch", "pvc", "data-db-0", "-p", `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`)
		l.kubectl("wait", "--for=jsonpath={.status.capacity.storage}=2Gi", "pvc/data-db-0", "--timeout=60s")
	})
	t.Run("snapshot and restore", func(t *testing.T) {
		l.kubectl("apply", "-f", file("restored.yaml", restored))
		l.kubectl("wait", "--for=jsonpath={.status.phase}=Bound", "pvc/restored", "--timeout=60s")
		made, err := time.Parse(time.RFC3339, l.kubectl("get", "volumesnapshot", "s", "-o", "jsonpath={.status.creationTime}"))
		require.NoError(t, err)
		began, err := time.Parse(time.RFC3339, l.kubectl("get", "volumesnapshot", "s", "-o", "jsonpath={.metadata.creationTimestamp}"))
		require.NoError(t, err)
		assert.WithinDuration(t, began, made, 5*time.Minute, "the time of the cluster")
	})
	t.Run("drain", func(t *testing.T) {
		node := l.kubectl("get", "pod", "db-0", "-o", "jsonpath={.spec.nodeName}")
		assert.Contains(t, l.kubectl("drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=60s"), "pod/db-0 evicted")
		l.kubectl("rollout", "status", "statefulset/db", "--timeout=60s")
		assert.NotEqual(t, node, l.kubectl("get", "pod", "db-0", "-o", "jsonpath={.spec.nodeName}"))
		l.kubectl("uncordon", node)
	})
	t.Run("rollout", func(t *testing.T) {
		l.kubectl("rollout", "restart", "statefulset/db")
		l.kubectl("rollout", "status", "statefulset/db", "--timeout=60s")
		assert.Regexp(t, `(?s)\n1 .*\n2 `, l.kubectl("rollout", "history", "statefulset/db"))
		restart := []string{"get", "statefulset", "db", "-o", `jsonpath={.spec.template.metadata.annotations.kubectl\.kubernetes\.io/restartedAt}`}
		assert.NotEmpty(t, l.kubectl(restart...))
		l.kubectl("rollout", "undo", "statefulset/db")
		l.kubectl("rollout", "status", "statefulset/db", "--timeout=60s")
		assert.Empty(t, l.kubectl(restart...))
		assert.Regexp(t, `(?s)\n2 .*\n3 `, l.kubectl("rollout", "history", "statefulset/db"), "the first one is the newest")
	})
	t.Run("containers without a program", func(t *testing.T) {
		const remedy = "(map its image under images, or use csisim up --pull)"
		for _, args := range [][]string{
			{"exec", "db-0", "--", "ls"}, {"cp", set, "db-0:/data/set.yaml"}, {"port-forward", "pod/db-0", "0:80"}, {"logs", "db-0"}, {"attach", "db-0"},
			{"debug", "db-0", "-i", "--image=busybox", "--profile=general", "-c", "look"}, {"logs", "db-0", "-c", "look"},
			{"debug", "node/node-a", "-i", "--image=busybox", "--profile=general"},
		} {
			out, _ := l.runKubectl(args...)
			assert.Contains(t, out, remedy, args)
		}
	})
	t.Run("top", func(t *testing.T) {
		for _, of := range []string{"nodes", "pods"} {
			out, err := l.runKubectl("top", of)
			assert.Error(t, err)
			assert.Contains(t, out, "csisim measures no processor time and memory of pods and nodes", of)
		}
		assert.NotContains(t, l.kubectl("api-resources"), "unable to retrieve", "other commands do not stumble over it")
	})
	t.Run("diff and server-side apply", func(t *testing.T) {
		assert.Empty(t, l.kubectl("diff", "-f", set))
		more := file("more.yaml", strings.Replace(operated, "replicas: 2", "replicas: 3", 1))
		out, err := l.runKubectl("diff", "-f", more)
		assert.ErrorContains(t, err, "exit status 1")
		assert.Regexp(t, `(?m)^-  replicas: 2\n\+  replicas: 3$`, out)
		out, err = l.runKubectl("apply", "--server-side", "-f", more)
		assert.Error(t, err)
		assert.Contains(t, out, `conflict with "kubectl-client-side-apply"`)
		l.kubectl("apply", "--server-side", "--force-conflicts", "-f", more)
		l.kubectl("rollout", "status", "statefulset/db", "--timeout=60s")
		assert.Equal(t, "3", l.kubectl("get", "statefulset", "db", "-o", "jsonpath={.status.readyReplicas}"))
	})
	t.Run("auth", func(t *testing.T) {
		assert.Equal(t, "yes\n", l.kubectl("auth", "can-i", "create", "pods"))
		assert.Regexp(t, `\*\.\* +\[\] +\[\] +\[\*\]`, l.kubectl("auth", "can-i", "--list"))
		assert.Contains(t, l.kubectl("auth", "whoami"), "kubernetes-admin")
	})

	down := clitest.RunIn(t, l.environment(), "down", "--kubeconfig", l.kubeconfig())
	require.Zero(t, down.Code, down.Stderr)
	assert.Zero(t, l.awaitEnd(), l.output.String())
}
