package library_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/machine"
)

// Given a driver that mounts with FUSE. When it is upgraded while a pod uses its volume, then the
// pod keeps its data if the daemon runs in a separate pod, and loses it if the daemon is a child of
// the driver, which ends with the driver's container. A driver that mounts the volume again
// restores the running pod's data only if it mounts over the dead mount, and the pod's mount has
// HostToContainer.
func TestAFUSEDaemonHasToOutliveItsDriver(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	if err := machine.FUSERefused(); err != nil {
		t.Skipf("drivers cannot mount with FUSE here: %v", err)
	}
	if _, err := exec.LookPath("bindfs"); err != nil {
		t.Skip("there is no bindfs")
	}
	const testdata = "../cmd/internal/library/testdata/"
	program := filepath.Join(t.TempDir(), "fusedriver")
	out, err := exec.Command("go", "build", "-o", program, "./"+testdata+"fusedriver").CombinedOutput()
	require.NoError(t, err, string(out))
	text, err := os.ReadFile(testdata + "fuse.txt")
	require.NoError(t, err)
	const (
		lost   = "data lost, as the FUSE daemon of the volume has exited"
		unseen = "running containers see a new mount only with mountPropagation: HostToContainer"
		open   = "files that running containers have open end with the FUSE daemon"
	)
	for _, test := range []struct {
		name, flags, propagation, finding, note string
	}{
		{"in a pod of its own", "--helper=/run/fuse/helper.sock", "None", "", ""},
		{"as a child of the driver", "--helper=", "None", lost, ""},
		{"started again, over the dead mount", "--mount-again=over", "HostToContainer", "", open},
		{"started again, over the dead mount, which alone the pod sees", "--mount-again=over", "None", "", unseen},
		{"started again after an unmount", "--mount-again=after-unmount", "HostToContainer", lost, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			filled := strings.NewReplacer("PROGRAM", program, "FLAGS", `"`+test.flags+`"`, "PROPAGATION", test.propagation).Replace(string(text))
			s, err := scenario.Parse("fuse.yaml", []byte(filled))
			require.NoError(t, err)
			result, err := scenario.Run(context.Background(), s, scenario.RunOptions{})
			require.NoError(t, err)
			for _, note := range []string{unseen, open} {
				assert.Equal(t, note == test.note, strings.Contains(strings.Join(result.Notes, "\n"), note), result.Notes)
			}
			if test.finding == "" {
				assert.Empty(t, result.Failures)
				return
			}
			require.NotEmpty(t, result.Failures)
			assert.Contains(t, result.Failures[0].Verdict.Text, test.finding)
		})
	}
}
