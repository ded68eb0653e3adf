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

// Given a driver that takes a failing stat(2) as proof that the target was deleted. When mounted
// file systems fail, then the search finds the mount that stays. A sound driver has no finding.
func TestASearchMakesMountedFileSystemsFail(t *testing.T) {
	hostdir := buildHostdir(t)
	const runs = 20
	o := usual(runs)
	o.Space.Kinds, o.Jobs = []fault.Kind{fault.Mounts}, 2
	for defect, found := range map[string]bool{"": false, "unpublish-trusts-stat": true} {
		s, err := Of(context.Background(), "used.yaml", fmt.Appendf(nil, used, hostdir, defect), o)
		require.NoError(t, err)
		assert.Equal(t, found, len(s.Findings) > 0, "%s: %v", defect, namesOf(s.Findings))
		for _, f := range s.Findings {
			assert.Equal(t, verdict.Driver, f.Blame, f.Verdict)
			assert.Contains(t, takenBy(f.Choices)[0], "its mounted file system fails with E", f.Verdict)
		}
	}
}

// used is a scenario with a pod that uses a volume.
const used = `apiVersion: csisim.dev/v1alpha1
kind: Scenario
drivers:
- name: hostdir.csi.csisim.dev
  program:
    command:
    - %s
    - --endpoint={{.Endpoint}}
    - --driver-name=hostdir.csi.csisim.dev
    - --mode={{.Mode}}
    - --node-id={{.NodeID}}
    - --state-dir={{.StateDir}}
    - --node-state-dir={{.NodeStateDir}}
    - --broken=%s
objects: |
  apiVersion: storage.k8s.io/v1
  kind: StorageClass
  metadata: {name: fast}
  provisioner: hostdir.csi.csisim.dev
steps:
- apply: |
    apiVersion: v1
    kind: PersistentVolumeClaim
    metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 16Mi}}, storageClassName: fast}
    ---
    apiVersion: v1
    kind: Pod
    metadata: {name: web}
    spec:
      nodeName: node-a
      containers: [{name: main, image: none, volumeMounts: [{name: data, mountPath: /data}]}]
      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
- wait: {pod: web, phase: Running}
- delete: {pod: web}
- wait: {pod: web, gone: true}
`
