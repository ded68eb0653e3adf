package csiaddons_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/definition"
	"github.com/csisim/csisim/internal/world/definition/csiaddons"
	_ "github.com/csisim/csisim/internal/world/definition/rule"
	"github.com/csisim/csisim/internal/world/store"
)

func TestDefinitionsAreValid(t *testing.T) {
	for _, d := range csiaddons.All() {
		apiextensionsv1.SetDefaults_CustomResourceDefinition(d)
		assert.Empty(t, definition.Check(d), d.Name)
		assert.Empty(t, definition.CheckName(d)(d.Name, false), d.Name)
	}
}

// The columns of kubectl get, scopes and short names: A-NODE-1, A-NF-1, A-RS-1, A-RS-10, A-EKR-1,
// A-VR-1, A-VR-2, A-VGR-1. A-ARCH-4
func TestColumns(t *testing.T) {
	var shown []string
	for _, d := range csiaddons.All() {
		var columns []string
		for _, c := range d.Spec.Versions[0].AdditionalPrinterColumns {
			columns = append(columns, c.Name)
		}
		shown = append(shown, fmt.Sprintf("%s %v %s: %s", d.Name, d.Spec.Names.ShortNames, d.Spec.Scope, strings.Join(columns, " ")))
	}
	assert.Equal(t, []string{
		"csiaddonsnodes.csiaddons.openshift.io [] Namespaced: namespace Age DriverName Endpoint NodeID",
		"networkfences.csiaddons.openshift.io [] Cluster: Driver Cidrs FenceState Age Result",
		"networkfenceclasses.csiaddons.openshift.io [] Cluster: ",
		"reclaimspacejobs.csiaddons.openshift.io [] Namespaced: Namespace Age Retries Result ReclaimedSpace",
		"reclaimspacecronjobs.csiaddons.openshift.io [] Namespaced: Schedule Suspend Active Lastschedule Lastsuccessfultime Age",
		"encryptionkeyrotationjobs.csiaddons.openshift.io [] Namespaced: Namespace Age Retries Result",
		"encryptionkeyrotationcronjobs.csiaddons.openshift.io [] Namespaced: Schedule Suspend Active Lastschedule Lastsuccessfultime Age",
		"volumereplications.replication.storage.openshift.io [vr] Namespaced: Age volumeReplicationClass SourceKind SourceName desiredState currentState",
		"volumereplicationclasses.replication.storage.openshift.io [vrc] Cluster: provisioner Age",
		"volumegroupreplications.replication.storage.openshift.io [vgr] Namespaced: VolumeGroupReplicationClass VolumeGroupReplicationContent desiredState currentState Age",
		"volumegroupreplicationclasses.replication.storage.openshift.io [vgrc] Cluster: provisioner Age",
		"volumegroupreplicationcontents.replication.storage.openshift.io [vgrcontent] Cluster: VolumeGroupReplicationClass VolumeGroupReplication Age",
	}, shown)
}

// sound are manifests of each kind that a real cluster accepts.
var sound = map[string]string{
	"CSIAddonsNode":                 "driver: {name: d, endpoint: 'pod://p.ns:9070', nodeID: node-a}",
	"NetworkFence":                  "{driver: d, cidrs: [10.0.0.0/8], secret: {name: s, namespace: ns}, parameters: {a: b}}",
	"NetworkFenceClass":             "{provisioner: d, parameters: {a: b}}",
	"ReclaimSpaceJob":               "target: {persistentVolumeClaim: p}",
	"EncryptionKeyRotationJob":      "target: {persistentVolumeClaim: p}",
	"ReclaimSpaceCronJob":           "{schedule: '@weekly', jobTemplate: {spec: {target: {persistentVolumeClaim: p}}}}",
	"EncryptionKeyRotationCronJob":  "{schedule: '@weekly', jobTemplate: {spec: {target: {persistentVolumeClaim: p}}}}",
	"VolumeReplication":             "{volumeReplicationClass: c, replicationState: primary, dataSource: {kind: PersistentVolumeClaim, name: p}}",
	"VolumeReplicationClass":        "{provisioner: d, parameters: {a: b}}",
	"VolumeGroupReplication":        "{volumeGroupReplicationClassName: c, replicationState: primary, source: {selector: {matchLabels: {a: b}}}}",
	"VolumeGroupReplicationClass":   "{provisioner: d}",
	"VolumeGroupReplicationContent": "{volumeGroupReplicationClassName: c, provisioner: d, source: {volumeHandles: [v]}}",
}

func TestValidManifestsAreAccepted(t *testing.T) {
	for kind, spec := range sound {
		_, err := create(newStore(t), object(t, kind, spec))
		assert.NoError(t, err, kind)
	}
}

func TestDefaults(t *testing.T) {
	for kind, want := range map[string]string{
		// A-NF-1
		"NetworkFence": "fenceState: Fenced",
		// A-RS-1
		"ReclaimSpaceJob": "{backOffLimit: 6, retryDeadlineSeconds: 600}",
		// A-RS-10
		"ReclaimSpaceCronJob": "{concurrencyPolicy: Forbid, failedJobsHistoryLimit: 1, successfulJobsHistoryLimit: 3}",
		// A-VR-2
		"VolumeReplication": "autoResync: false",
		// A-VGR-1
		"VolumeGroupReplication": "{autoResync: false, external: false}",
	} {
		made, err := create(newStore(t), object(t, kind, sound[kind]))
		require.NoError(t, err, kind)
		spec := made.Object["spec"].(map[string]any)
		for name, value := range object(t, kind, want).Object["spec"].(map[string]any) {
			assert.EqualValues(t, value, spec[name], "%s %s", kind, name)
		}
	}
}

// The errors come from a real API server with the project's own definitions.
func TestInvalidManifestsAreRejected(t *testing.T) {
	for name, c := range map[string]struct{ kind, spec, says string }{
		// A-NF-1
		"no secret and no class": {"NetworkFence", "{cidrs: [10.0.0.0/8], driver: d}",
			"spec: Invalid value: secret must be present when networkFenceClassName is not specified"},
		"no driver and no class": {"NetworkFence", "{cidrs: [10.0.0.0/8], secret: {name: s, namespace: ns}}",
			"spec: Invalid value: one of driver or networkFenceClassName must be present"},
		"no addresses":       {"NetworkFence", "{driver: d, secret: {name: s}}", "spec.cidrs: Required value"},
		"another fenceState": {"NetworkFence", "{driver: d, secret: {name: s}, cidrs: [], fenceState: fenced}", `spec.fenceState: Unsupported value: "fenced": supported values: "Fenced", "Unfenced"`},
		// A-RS-1
		"too many retries": {"ReclaimSpaceJob", "{backOffLimit: 61, target: {persistentVolumeClaim: p}}",
			"spec.backOffLimit: Invalid value: 61: spec.backOffLimit in body should be less than or equal to 60"},
		"a short timeout": {"ReclaimSpaceJob", "{timeout: 59, target: {persistentVolumeClaim: p}}",
			"spec.timeout: Invalid value: 59: spec.timeout in body should be greater than or equal to 60"},
		// A-EKR-1
		"a long deadline": {"EncryptionKeyRotationJob", "{retryDeadlineSeconds: 1801, target: {}}", "should be less than or equal to 1800"},
		"no target":       {"EncryptionKeyRotationJob", "{}", "spec.target: Required value"},
		// A-RS-10
		"an empty schedule": {"ReclaimSpaceCronJob", "{schedule: '', jobTemplate: {spec: {target: {}}}}", "spec.schedule in body should match '.+'"},
		"another policy":    {"ReclaimSpaceCronJob", "{schedule: a, concurrencyPolicy: Allow, jobTemplate: {spec: {target: {}}}}", `supported values: "Forbid", "Replace"`},
		"a long history":    {"EncryptionKeyRotationCronJob", "{schedule: a, failedJobsHistoryLimit: 61, jobTemplate: {spec: {target: {}}}}", "should be less than or equal to 60"},
		// A-VR-2
		"another state": {"VolumeReplication", "{volumeReplicationClass: c, replicationState: Primary, dataSource: {kind: K, name: p}}",
			`spec.replicationState: Unsupported value: "Primary": supported values: "primary", "secondary", "resync"`},
		"no data source": {"VolumeReplication", "{volumeReplicationClass: c, replicationState: primary}", "spec.dataSource: Required value"},
		// A-VR-1
		"no provisioner": {"VolumeReplicationClass", "{}", "spec.provisioner: Required value"},
		// A-VGR-1
		"no selector": {"VolumeGroupReplication", "{volumeGroupReplicationClassName: c, replicationState: primary, source: {}}",
			"spec.source.selector: Required value"},
		"half an owner": {"VolumeGroupReplicationContent", "{volumeGroupReplicationClassName: c, provisioner: d, source: {volumeHandles: []}, volumeGroupReplicationRef: {name: m}}",
			"volumeGroupReplicationRef.name, volumeGroupReplicationRef.namespace and volumeGroupReplicationRef.uid must be set"},
		// A-NODE-1
		"no endpoint": {"CSIAddonsNode", "driver: {name: d, nodeID: n}", "spec.driver.endpoint: Required value"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := create(newStore(t), object(t, c.kind, c.spec))
			assert.ErrorContains(t, err, c.says)
		})
	}
}

func TestImmutableFieldsCannotBeChanged(t *testing.T) {
	for name, c := range map[string]struct{ kind, change, says string }{
		// A-NODE-1
		"the driver of a node": {"CSIAddonsNode", "driver: {name: other}", `spec.driver.name: Invalid value: "other": name is immutable`},
		"its endpoint":         {"CSIAddonsNode", "driver: {endpoint: other}", ""},
		// A-NF-1
		"the driver of a fence": {"NetworkFence", "driver: other", `spec.driver: Invalid value: "other": driver is immutable`},
		"its secret":            {"NetworkFence", "secret: {name: other}", "secret is immutable"},
		"its addresses":         {"NetworkFence", "cidrs: [10.1.0.0/16]", ""},
		// A-RS-1
		"the target of a job": {"ReclaimSpaceJob", "target: {persistentVolumeClaim: q}", "persistentVolumeClaim is immutable"},
		// A-VR-2
		"the class of a replication": {"VolumeReplication", "volumeReplicationClass: d", "volumeReplicationClass is immutable"},
		"its state":                  {"VolumeReplication", "replicationState: secondary", ""},
		// A-VR-1
		"parameters of a class":      {"VolumeReplicationClass", "parameters: {a: c}", "parameters are immutable"},
		"parameters a class has not": {"VolumeGroupReplicationClass", "parameters: {a: c}", "spec: Invalid value: parameters are immutable"},
		// A-VGR-1
		"the selector of a group":  {"VolumeGroupReplication", "source: {selector: {matchLabels: {a: c}}}", "selector is immutable"},
		"that a group is not ours": {"VolumeGroupReplication", "external: true", "source is immutable"},
		// A-NF-6
		"the driver of a fence class": {"NetworkFenceClass", "provisioner: other", "provisioner is immutable"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			made, err := create(s, object(t, c.kind, sound[c.kind]))
			require.NoError(t, err)
			changed := made.DeepCopy()
			merge(changed.Object["spec"].(map[string]any), object(t, c.kind, c.change).Object["spec"].(map[string]any))
			_, err = s.UpdateObject(resource(s, changed), changed)
			if c.says == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, c.says)
		})
	}
}

func merge(into, from map[string]any) {
	for name, value := range from {
		part, isMap := value.(map[string]any)
		if old, has := into[name].(map[string]any); isMap && has {
			merge(old, part)
			continue
		}
		into[name] = value
	}
}

func newStore(t *testing.T) *store.Store {
	t.Helper()
	s := kind.NewStore(store.Options{})
	for _, d := range csiaddons.All() {
		_, err := store.Adopt(s, d)
		require.NoError(t, err)
	}
	return s
}

func object(t *testing.T, kind, spec string) *unstructured.Unstructured {
	t.Helper()
	content := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(spec), &content))
	obj := &unstructured.Unstructured{Object: map[string]any{"kind": kind, "spec": whole(content)}}
	for _, d := range csiaddons.All() {
		if d.Spec.Names.Kind == kind {
			obj.SetAPIVersion(d.Spec.Group + "/" + csiaddons.Version)
			if d.Spec.Scope == apiextensionsv1.NamespaceScoped {
				obj.SetNamespace("default")
			}
		}
	}
	obj.SetName("x")
	return obj
}

// whole turns the numbers of a YAML text into integers, like those of the JSON that the API server
// reads.
func whole(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			v[name] = whole(v[name])
		}
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	case float64:
		return int64(v)
	}
	return value
}

func resource(s *store.Store, obj store.Object) *store.Resource {
	res, err := kind.ResourceOf(s, obj)
	if err != nil {
		panic(err)
	}
	return res
}

func create(s *store.Store, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	made, err := s.CreateObject(resource(s, obj), obj)
	if err != nil {
		return nil, err
	}
	return made.(*unstructured.Unstructured), nil
}
