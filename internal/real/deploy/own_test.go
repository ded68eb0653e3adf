package deploy_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/real/deploy"
)

// ownManifests is a driver's deployment: a kustomization over three files.
const ownManifests = "../../../cmd/csisim/testdata/own"

func readOwn(t *testing.T) *deploy.Own {
	t.Helper()
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("kubectl builds kustomizations")
	}
	own, err := deploy.ReadOwn(ownManifests, []string{"deploy"})
	require.NoError(t, err)
	return own
}

// The manifests stay unchanged, except for labels and the proxies between the driver and each of
// its callers.
func TestProxiesArePutIntoTheDriversOwnPods(t *testing.T) {
	own := readOwn(t)
	d := deploy.Driver{Name: "mock.csi.csisim.dev", Own: own}
	for name, o := range map[string]deploy.Options{"own": {}, "own-proxied": {Proxy: "token", Run: "run", Images: map[string]string{"csi-attacher": "example.com/attacher:1"}}} {
		var out bytes.Buffer
		require.NoError(t, deploy.Write(&out, deploy.Manifests(d, o)))
		golden := filepath.Join("testdata", name+".yaml")
		if *update {
			require.NoError(t, os.WriteFile(golden, out.Bytes(), 0o644))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		assert.Equal(t, string(want), out.String())
	}
	assert.Equal(t, []string{"csi-attacher", "csi-provisioner"}, own.Sidecars())
	assert.Equal(t, map[string]string{"--csi-address": "/run/csi/csi.sock", "--timeout": "15s"}, own.Flags("csi-attacher"))
	assert.Equal(t, "provisioner", own.Container("csi-provisioner"))
	assert.True(t, own.HasNode() && own.OnEveryNode() && own.HasController())
	for _, of := range []string{"Pod disk-system disk-node-x7f2", "ReplicaSet disk-system disk-controller-6d8f", "DaemonSet disk-system disk-node", "CSIDriver  mock.csi.csisim.dev"} {
		what := strings.Split(of, " ")
		assert.True(t, own.Owns(what[0], what[1], what[2]), of)
	}
	for _, other := range []string{
		// disk is a ServiceAccount.
		"Pod default disk-node-x7f2", "PersistentVolumeClaim disk-system disk-data", "PersistentVolumeClaim disk-system disk-node-x7f2", "Pod disk-system disk-web",
	} {
		what := strings.Split(other, " ")
		assert.False(t, own.Owns(what[0], what[1], what[2]), other)
	}
	assert.Contains(t, deploy.Options{}.SidecarImages(d), "registry.example.com/disk:v2", "as the kustomization has it")
}

// Pods of two drivers may share their node's network.
func TestTheProxiesOfTwoDriversHaveSeparatePorts(t *testing.T) {
	seen := map[int]bool{}
	for i := range 3 {
		for _, part := range []string{"node", "controller"} {
			seen[deploy.Driver{Index: i}.OwnPort(part)] = true
		}
	}
	assert.Len(t, seen, 6)
	own := readOwn(t)
	var out bytes.Buffer
	require.NoError(t, deploy.Write(&out, deploy.Manifests(deploy.Driver{Name: "second", Index: 1, Own: own}, deploy.Options{Proxy: "token"})))
	for _, want := range []string{"csisim.dev/proxies: node=29810\n", "- :29810\n", "csisim.dev/proxies: controller=29811\n", "- :29811\n"} {
		assert.Contains(t, out.String(), want)
	}
}

const pod = `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: disk}
spec:
  selector: {matchLabels: {app: disk}}
  template:
    metadata: {labels: {app: disk}}
    spec:
      containers:
      - {name: node-driver-registrar, image: "example.com/registrar", args: [--csi-address=/csi/csi.sock], volumeMounts: [{name: plugin, mountPath: /csi}]}
`

// Manifests that cannot be deployed with proxies are an error with its position.
func TestManifestsWithoutADriverAreRejected(t *testing.T) {
	const volumes = "      volumes: [{name: plugin, hostPath: {path: /var/lib/kubelet/plugins/disk}}]\n"
	for text, want := range map[string]string{
		"apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a}\n": "no Deployment, StatefulSet or DaemonSet in the manifests has a driver with sidecars",
		"apiVersion: v1\nkind: Pod\nmetadata: {nam: a}\n":             `x.yaml:3:12: metadata.nam: found unknown field "nam"`,
		pod + volumes: "x.yaml:10:7: spec.template.spec.containers: found none, want one container besides the sidecars that has the volume plugin, where the driver's socket is",
		pod + "      - {name: a, image: a, volumeMounts: [{name: plugin, mountPath: /a}]}\n      - {name: b, image: b, volumeMounts: [{name: plugin, mountPath: /b}]}\n" + volumes: "found a, b",
		pod + "      - {name: csi-attacher, image: a, args: [-csi-address, /other/csi.sock]}\n" + volumes:                                                                          "x.yaml:11:9: spec.template.spec.containers[1]: found container csi-attacher, which looks for the driver at /other/csi.sock, want a mounted volume with that socket",
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "x.yaml"), []byte(text), 0o600))
		_, err := deploy.ReadOwn(dir, []string{"."})
		assert.ErrorContains(t, err, want)
	}
	empty := t.TempDir()
	_, err := deploy.ReadOwn(empty, []string{"."})
	assert.ErrorContains(t, err, "has neither a kustomization.yaml nor files with manifests")
	_, err = deploy.ReadOwn(empty, []string{"none"})
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// A folder with a kustomization requires kubectl. kubectl's error names the mistake.
func TestAKustomizationThatCannotBeBuiltIsRejected(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte("resources: [none.yaml]\n"), 0o600))
	if _, err := exec.LookPath("kubectl"); err == nil {
		_, err := deploy.ReadOwn(dir, []string{"."})
		assert.ErrorContains(t, err, "build the kustomization in "+dir+": kubectl: ")
		assert.ErrorContains(t, err, "none.yaml")
	}
	t.Setenv("PATH", "")
	_, err := deploy.ReadOwn(dir, []string{"."})
	assert.ErrorContains(t, err, "kubectl is not in PATH")
}
