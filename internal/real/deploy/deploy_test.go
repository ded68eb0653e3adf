package deploy_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/csisim/csisim/internal/input/manifest"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func driver(o deploy.Options) deploy.Driver {
	return deploy.Driver{
		Name:       "disk.example.com",
		CSIDriver:  &storagev1.CSIDriver{Spec: storagev1.CSIDriverSpec{AttachRequired: new(true)}},
		Node:       &deploy.Program{Image: "example.com/disk:v1", Command: []string{"/driver/disk", "--endpoint=" + o.Endpoint("node"), "--node-id=$(NODE_NAME)"}},
		Controller: &deploy.Program{Image: "example.com/disk:v1", Command: []string{"/driver/disk", "--endpoint=" + o.Endpoint("controller")}, Env: map[string]string{"REGION": "r1"}},
		Sidecars:   []string{"csi-provisioner", "csi-attacher"},
		Flags:      map[string][]string{"csi-provisioner": {"--timeout=1m0s"}},
	}
}

// The API of a simulation accepts all manifests, as the API of a real cluster does.
func TestManifestsEqualTheGoldenFiles(t *testing.T) {
	for name, o := range map[string]deploy.Options{
		"plain":   {Images: map[string]string{"csi-attacher": "example.com/attacher:v9"}},
		"proxied": {Proxy: "secret", Run: "1f2e", ControlPlane: true},
	} {
		t.Run(name, func(t *testing.T) { taken(t, name, deploy.Manifests(driver(o), o)) })
	}
}

// If a run stops and starts a registrar, the registrar is a child of csisim. An init container
// copies csisim to a shared directory, with the libraries that the registrar's image lacks.
func TestAKeptRegistrarIsAChildOfCsisim(t *testing.T) {
	o := deploy.Options{Proxy: "secret", Run: "1f2e", ControlPlane: true}
	d := driver(o)
	d.Keeper, d.Controller = &deploy.Keeper{Libraries: []string{"/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6"}}, nil
	taken(t, "kept-registrar", deploy.Manifests(d, o))
}

// The snapshot kinds are installed with their controller. It runs on the control plane's node if
// the controller plugins run there. Their definitions are valid.
func TestTheKindsOfSnapshotsComeWithTheirController(t *testing.T) {
	taken(t, "snapshots", deploy.SnapshotKinds(deploy.Options{ControlPlane: true}))
}

// taken compares objects with a golden file, and applies the file to the API of a simulation.
func taken(t *testing.T, name string, objects []runtime.Object) {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, deploy.Write(&out, objects))
	file := "testdata/" + name + ".golden"
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, out.Bytes(), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), out.String())

	read, problems := manifest.DecodeText(strict.Source{File: file, Text: want})
	require.NoError(t, problems.Err())
	cluster, err := sim.Start(sim.Options{})
	require.NoError(t, err)
	defer cluster.Close()
	for _, o := range read {
		_, err := cluster.Apply(o.Object.(store.Object))
		assert.NoError(t, err)
	}
}

func TestASlugIsANameThatObjectsCanHave(t *testing.T) {
	assert.Equal(t, "disk-example-com", deploy.Slug("Disk.example.com"))
}
