package profile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/scenario/profile"
)

func TestSecretsOfCalls(t *testing.T) {
	admin := map[string]string{"user": "admin"}
	for name, c := range map[string]struct {
		text, mistake string
		secrets       profile.Secrets
	}{
		"one for all calls": {"user: admin\n", "", profile.Secrets{
			"provisioner": admin, "controller-publish": admin, "node-stage": admin, "node-publish": admin,
			"controller-expand": admin, "node-expand": admin, "snapshotter": admin, "snapshotter-list": admin,
		}},
		"one for a call":                 {"NodeStageVolumeSecret: {user: admin}\n", "", profile.Secrets{"node-stage": admin}},
		"one for a call and its inverse": {"CreateVolumeSecret: {user: admin}\nDeleteVolumeSecret: {user: admin}\n", "", profile.Secrets{"provisioner": admin}},
		"one for the inverse of a call":  {"DeleteSnapshotSecret: {user: admin}\n", "", profile.Secrets{"snapshotter": admin}},
		"another one for the inverse of a call": {"CreateVolumeSecret: {user: admin}\nDeleteVolumeSecret: {user: root}\n",
			"s.yaml:2:21: DeleteVolumeSecret: found another Secret than CreateVolumeSecret, want the same", nil},
		"text beside a call": {"CreateVolumeSecret: {user: admin}\npassword: x\n", `s.yaml:2:1: password: found unknown field "password"`, nil},
		"a list":             {"[a]\n", "s.yaml:1:1: ", nil},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "s.yaml")
			require.NoError(t, os.WriteFile(file, []byte(c.text), 0o600))
			secrets, err := profile.ReadSecrets(file)
			if c.mistake != "" {
				assert.ErrorContains(t, err, c.mistake)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.secrets, secrets)
		})
	}
}
