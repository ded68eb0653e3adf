package machine_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/internal/world/nodeinit"
)

// Programs find nothing in files about the memory, the keys and the log of the whole host.
func TestProgramsFindFilesAboutTheHostMasked(t *testing.T) {
	m, dir := newNamespace(t), image(t)
	defer m.Close()
	for _, name := range append(nodeinit.Masked, "/dev/kmsg") {
		if _, err := os.Stat(name); err != nil {
			continue
		}
		script := "stat -c %t:%T " + name
		assert.Equal(t, "1:3", strings.TrimSpace(run(t, m, shell(script))), "%s is /dev/null on the machine", name)
		if name != "/dev/kmsg" {
			assert.Equal(t, "1:3", strings.TrimSpace(run(t, m, inRoot(machine.Root{Dir: dir}, script))), "%s in a container", name)
		}
	}
	mounts, err := m.Mounts()
	assert.NoError(t, err)
	assert.Empty(t, mounts, "they are no mounts of a driver")
}

// Programs have the withheld capabilities only if they request them.
func TestCapabilitiesAreWithheldUnlessRequested(t *testing.T) {
	m, dir := newNamespace(t), image(t)
	defer m.Close()
	if namespaces.Rootless() {
		t.Skip("an ordinary user has no capabilities on the host")
	}
	const status = "grep CapBnd /proc/self/status"
	bounds := func(c machine.Command) string { return strings.TrimSpace(run(t, m, c)) }
	without, asking := shell(status), shell(status)
	asking.Capabilities = machine.Withheld
	privileged, given := machine.Root{Dir: dir, Privileged: true}, machine.Root{Dir: dir, Privileged: true, Capabilities: machine.Withheld}
	assert.NotEqual(t, bounds(without), bounds(asking))
	assert.Equal(t, bounds(without), bounds(inRoot(privileged, status)))
	assert.Equal(t, bounds(asking), bounds(inRoot(given, status)))
}
