package machine_test

import (
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/internal/world/machine"
)

// Given a kept mount of FUSE. When its daemon exits, then the view has the daemon's error if
// another mount covers or replaces it, and none if the path shows the dead mount itself.
func TestAViewOutlivesItsPath(t *testing.T) {
	if _, err := exec.LookPath("bindfs"); err != nil || machine.FUSERefused() != nil {
		t.Skip("bindfs and /dev/fuse are needed")
	}
	const seen = machine.KubeletDir + "/seen"
	for _, test := range []struct {
		name   string
		change func(t *testing.T, m machine.Machine)
		want   machine.View
	}{
		{"nothing else is mounted", func(*testing.T, machine.Machine) {}, machine.View{}},
		{"another mount covers it", func(t *testing.T, m machine.Machine) {
			require.NoError(t, m.BindMount(machine.KubeletDir+"/real", seen, false))
		}, machine.View{Err: unix.ENOTCONN, Covered: true}},
		{"another mount replaces it", func(t *testing.T, m machine.Machine) {
			require.NoError(t, m.Unmount(seen))
			require.NoError(t, m.BindMount(machine.KubeletDir+"/real", seen, false))
		}, machine.View{Err: unix.ENOTCONN}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newNamespace(t)
			defer m.Close()
			p, begin := followed(t, m, `mkdir real seen; bindfs real seen; touch mounted; while :; do sleep 1; done`)
			begin()
			require.Eventually(t, func() bool {
				_, err := m.Lstat(machine.KubeletDir + "/mounted")
				return err == nil
			}, time.Minute, 10*time.Millisecond)
			require.NoError(t, m.KeepView(seen))
			view, err := m.ViewOf(seen)
			require.NoError(t, err)
			assert.Zero(t, view, "the path shows it")
			require.NoError(t, p.Kill())

			test.change(t, m)
			view, err = m.ViewOf(seen)
			require.NoError(t, err)
			assert.Equal(t, test.want, view)

			require.NoError(t, m.CloseViews(machine.KubeletDir))
			view, err = m.ViewOf(seen)
			require.NoError(t, err)
			assert.Zero(t, view, "it is not kept any more")
		})
	}
}
