package explore

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/judge/verdict"
)

// Given a driver that keeps its volumes at a service and requests another volume after a reset of
// its connection, when requests fail, then the search finds the orphaned volume. A sound driver has
// no finding.
func TestASearchMakesTheServiceOfADriverFail(t *testing.T) {
	httpdir := builtDriver(t, "httpdir")
	const runs = 40 // each single fault, and some together
	o := usual(runs)
	o.Space.Kinds, o.Jobs = []fault.Kind{fault.Services}, 2
	for defect, found := range map[string]bool{"": false, "reset-makes-again": true} {
		s, err := Of(context.Background(), "claim.yaml", fmt.Appendf(nil, claimed, httpdir, defect), o)
		require.NoError(t, err)
		assert.Equal(t, found, len(s.Findings) > 0, "%s: %v", defect, namesOf(s.Findings))
		for _, f := range s.Findings {
			assert.Equal(t, verdict.Driver, f.Blame, f.Verdict)
			assert.Equal(t, []string{"its service fails, request 2: reset"}, takenBy(f.Choices), f.Verdict)
		}
	}
}

// claimed is a scenario in which a driver with a service creates and deletes the volume of a claim.
const claimed = `apiVersion: csisim.dev/v1alpha1
kind: Scenario
drivers:
- name: httpdir.csi.csisim.dev
  program:
    command:
    - %s
    - --endpoint={{.Endpoint}}
    - --node-id={{.NodeID}}
    - --data-dir={{.StateDir}}
    - --url={{.ServiceURL}}
    - --broken=%s
    standIns: {http: {collections: [{path: /volumes, unique: [name]}, {path: /attachments}]}}
objects: |
  apiVersion: storage.k8s.io/v1
  kind: StorageClass
  metadata: {name: fast}
  provisioner: httpdir.csi.csisim.dev
steps:
- apply: |
    apiVersion: v1
    kind: PersistentVolumeClaim
    metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 16Mi}}, storageClassName: fast}
- wait: {pvc: data, phase: Bound}
- delete: {pvc: data}
- wait: {pv: "*", gone: true}
`
