package version_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/version"
)

var update = flag.Bool("update", false, "rewrite docs/reference/versions.md")

const (
	page = "../../../docs/reference/versions.md"
	head = `# Versions of Kubernetes

A scenario names the simulated version, ` + "`kubernetes: \"1.24\"`" + `; a node can have a kubelet of another version, and
the step ` + "`upgrade`" + ` changes the version of a kubelet or of the control plane during a run. The default is v%[2]s, which is
compared with recordings. The other versions, from %[1]s on, are v%[2]s without the later changes in these tables:
everything that the tables do not list is as in v%[2]s.

The limits are those of Kubernetes: a kubelet is never newer than the control plane and at most three minor versions
older (two before 1.25); the control plane is upgraded one minor version at a time. Sidecars belong to the driver: their
releases [are chosen separately](#sidecars).

## What changed for drivers

| Since | Deciding version | Change | Before | Since then | Source |
| --- | --- | --- | --- | --- | --- |
`
	plugins = `
## In-tree plugins

These are the defaults of the component that acts for volumes of in-tree plugins. The field ` + "`migration`" + ` of the cluster,
of a node or of an upgrade changes them. Disabled: the in-tree plugin itself, which drivers do not see and which is
not simulated. Enabled: the driver, on nodes with a CSINode that declares it. Complete: the driver.

| Plugin | Driver | Enabled since | Complete since |
| --- | --- | --- | --- |
`
	sidecars = `
## Sidecars

A scenario names the release of a built-in sidecar, ` + "`sidecars: {csi-provisioner: {version: \"5.3\"}}`" + ` of a driver. Without it all is as in the newest.
These changes of older releases are simulated. Everything that the table does not list is as in the newest release.

| Program | Since | What | Before | Since then | Source |
| --- | --- | --- | --- | --- | --- |
`
	sources = `
Sources: the feature gates CSIMigration… and InTreePlugin…Unregister as Kubernetes documents them, for Cinder
kubernetes/kubernetes#98538.
`
)

// The page contains the tables of the code.
func TestThePageOfVersionsIsTheTable(t *testing.T) {
	var text bytes.Buffer
	fmt.Fprintf(&text, head, version.Oldest, version.Newest)
	for _, e := range version.Changes() {
		fmt.Fprintf(&text, "| %s | %s | %s | %s | %s | %s |\n", e.Since, e.Program, e.Change, e.Before, e.After, e.Source)
	}
	text.WriteString(plugins)
	for _, plugin := range migration.Names() {
		driver, ok := migration.Driver(plugin)
		require.True(t, ok, plugin)
		enabled, complete := migration.Since(plugin)
		fmt.Fprintf(&text, "| %s | %s | %s | %s |\n", plugin, driver, enabled, complete)
	}
	text.WriteString(sources)
	text.WriteString(sidecars)
	for _, c := range sidecar.Changes() {
		fmt.Fprintf(&text, "| %s | %s | %s | %s | %s | %s |\n", c.Program, c.Since, c.What, c.Before, c.After, c.Source)
	}
	if *update {
		require.NoError(t, os.WriteFile(page, text.Bytes(), 0o644))
	}
	written, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Equal(t, text.String(), string(written), "run: go test ./internal/world/version -update")
}
