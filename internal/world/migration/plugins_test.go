package migration_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/version"
)

const (
	cinder = "kubernetes.io/cinder"
	ebs    = "kubernetes.io/aws-ebs"
)

// C-MIG-2
func TestStagesComeWithTheVersion(t *testing.T) {
	for _, tt := range []struct {
		v           version.Version
		cinder, ebs migration.Stage
	}{
		{20, migration.Disabled, migration.Disabled},
		{21, migration.Enabled, migration.Disabled},
		{23, migration.Enabled, migration.Enabled},
		{31, migration.Complete, migration.Complete},
		{0, migration.Complete, migration.Complete},
	} {
		of := migration.Of(tt.v)
		assert.Equal(t, tt.cinder, of.Stage(cinder), tt.v)
		assert.Equal(t, tt.ebs, of.Stage(ebs), tt.v)
	}
	assert.Empty(t, migration.Of(version.Newest), "all seven are complete")
	assert.Len(t, migration.Plugins(nil).Enabled(), 7)
}

func TestUnmigratedPluginsHaveNoCSIVolume(t *testing.T) {
	pv := volume(corev1.PersistentVolumeSource{Cinder: &corev1.CinderPersistentVolumeSource{VolumeID: "disk-1"}})
	inline := &corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{Cinder: &corev1.CinderVolumeSource{VolumeID: "disk-1"}}}
	for stage, migrated := range map[migration.Stage]bool{migration.Disabled: false, migration.Enabled: true, migration.Complete: true} {
		plugins := migration.Of(version.Newest).With(migration.Plugins{cinder: stage})
		translated, err := plugins.PV(pv)
		assert.NoError(t, err)
		assert.Equal(t, migrated, translated.Spec.CSI != nil, stage)
		_, ok, err := plugins.Inline(inline, "default")
		assert.NoError(t, err)
		assert.Equal(t, migrated, ok, stage)
		_, ok = plugins.Driver(cinder)
		assert.Equal(t, migrated, ok, stage)
		assert.Equal(t, migrated, slices.Contains(plugins.Enabled(), cinder), stage)
		_, ok = plugins.Driver(ebs)
		assert.True(t, ok, "the others stay as they are")
	}
}

func TestUnknownPluginsAreReported(t *testing.T) {
	assert.NoError(t, migration.Plugins{cinder: migration.Enabled}.Validate())
	assert.ErrorContains(t, migration.Plugins{"kubernetes.io/rbd": migration.Enabled}.Validate(), `there is no in-tree plugin "kubernetes.io/rbd"`)
	assert.ErrorContains(t, migration.Plugins{cinder: "on"}.Validate(), "there are disabled, enabled and complete")
}

// C-MIG-5
//
// conformance: csinode-migrated-plugins-one, csinode-migrated-plugins-others-stay,
// csinode-migrated-plugins-swap, csinode-migrated-plugins-sorted
func TestTheCSINodeListsMigratedPlugins(t *testing.T) {
	const key = "storage.alpha.kubernetes.io/migrated-plugins"
	only := func(names ...string) []string {
		plugins := migration.Plugins{}
		for _, name := range migration.Names() {
			if !slices.Contains(names, name) {
				plugins[name] = migration.Disabled
			}
		}
		return plugins.Enabled()
	}
	for name, tt := range map[string]struct {
		before  map[string]string
		plugins []string
		written bool
		after   map[string]string
	}{
		"the first":           {nil, only(cinder), true, map[string]string{key: cinder}},
		"others stay":         {map[string]string{"other": "x"}, only(cinder), true, map[string]string{"other": "x", key: cinder}},
		"another":             {map[string]string{"other": "x", key: ebs}, only(cinder), true, map[string]string{"other": "x", key: cinder}},
		"sorted":              {map[string]string{"other": "x"}, only(cinder, ebs), true, map[string]string{"other": "x", key: ebs + "," + cinder}},
		"the same":            {map[string]string{key: cinder}, only(cinder), false, map[string]string{key: cinder}},
		"none: it is removed": {map[string]string{"other": "x", key: cinder}, only(), true, map[string]string{"other": "x"}},
		"none as before":      {map[string]string{"other": "x"}, only(), false, map[string]string{"other": "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			n := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Annotations: maps.Clone(tt.before)}}
			assert.Equal(t, tt.written, migration.SetOnNode(n, tt.plugins))
			assert.Equal(t, tt.after, n.Annotations)
			assert.Equal(t, len(tt.plugins), len(migration.OnNode(n)))
		})
	}
}

// C-MIG-3
func TestNamesOnANodeAreComparedUnchanged(t *testing.T) {
	n := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"storage.alpha.kubernetes.io/migrated-plugins": ebs + ", " + cinder}}}
	assert.True(t, migration.OnNode(n)[ebs])
	assert.False(t, migration.OnNode(n)[cinder], "there is a space before it")
}
