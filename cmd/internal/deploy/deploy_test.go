package deploy_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/cmd/internal/deploy"
	"github.com/csisim/csisim/internal/input/manifest"
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

// What is deployed is what a real cluster takes: the API of a simulation takes it.
func TestManifestsAreThoseOfTheGoldenFiles(t *testing.T) {
	for name, o := range map[string]deploy.Options{
		"plain":   {Images: map[string]string{"csi-attacher": "example.com/attacher:v9"}},
		"proxied": {Proxy: "secret", Run: "1f2e", ControlPlane: true},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			require.NoError(t, deploy.Write(&out, deploy.Manifests(driver(o), o)))
			file := "testdata/" + name + ".golden"
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(file, out.Bytes(), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, string(want), out.String())

			objects, err := manifest.DecodeFile(file)
			require.NoError(t, err)
			cluster, err := sim.Start(sim.Options{})
			require.NoError(t, err)
			defer cluster.Close()
			for _, o := range objects {
				_, err := cluster.Apply(o.Object.(store.Object))
				assert.NoError(t, err)
			}
		})
	}
}

func TestASlugIsANameThatObjectsCanHave(t *testing.T) {
	assert.Equal(t, "disk-example-com", deploy.Slug("Disk.example.com"))
}
