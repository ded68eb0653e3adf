package migration

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/version"
)

// Stage is the stage of an in-tree plugin's migration. C-MIG-2
type Stage string

// The stages.
const (
	// Disabled: the in-tree plugin handles its volumes itself, without a driver.
	Disabled Stage = "disabled"
	// Enabled: the driver handles volumes on a node if the node's CSINode lists the plugin.
	Enabled Stage = "enabled"
	// Complete: the driver handles the volumes; the in-tree plugin is removed.
	Complete Stage = "complete"
)

// Plugins are the stages of in-tree plugins in one program, by name. An unlisted plugin is
// complete.
type Plugins map[string]Stage

// annotation lists, on a CSINode, the plugins that are migrated there.
const annotation = corev1.MigratedPluginsAnnotationKey

// history has two releases for a plugin: the first release that migrates it by default, and the
// first release without the in-tree plugin. They follow from the gates CSIMigration… and
// InTreePlugin…Unregister of each release.
type history struct{ enabled, complete version.Version }

var histories = map[string]history{
	"kubernetes.io/aws-ebs":         {23, 31},
	"kubernetes.io/azure-disk":      {23, 31},
	"kubernetes.io/azure-file":      {24, 31},
	"kubernetes.io/cinder":          {21, 31}, // kubernetes/kubernetes#98538
	"kubernetes.io/gce-pd":          {23, 31},
	"kubernetes.io/portworx-volume": {31, 36},
	"kubernetes.io/vsphere-volume":  {25, 31},
}

// Names returns the in-tree plugins that CSI drivers can replace, sorted. C-MIG-1
func Names() []string { return slices.Clone(names) }

var names = slices.Sorted(maps.Keys(histories))

// Since returns the versions from which a plugin's migration is enabled and complete by default.
func Since(plugin string) (enabled, complete version.Version) {
	h := histories[plugin]
	return h.enabled, h.complete
}

// Of returns the default stages of the plugins in a version.
func Of(v version.Version) Plugins {
	of := Plugins{}
	// Entries may be made in any order.
	for name, h := range histories {
		switch {
		case v.Minor() < h.enabled.Minor():
			of[name] = Disabled
		case v.Minor() < h.complete.Minor():
			of[name] = Enabled
		}
	}
	return of
}

// With returns the plugins after replacing their stages by those in others.
func (s Plugins) With(others Plugins) Plugins {
	with := maps.Clone(s)
	if with == nil {
		with = Plugins{}
	}
	maps.Copy(with, others)
	return with
}

// Validate returns the first unknown plugin or stage.
func (s Plugins) Validate() error {
	for _, plugin := range slices.Sorted(maps.Keys(s)) {
		if _, ok := histories[plugin]; !ok {
			return fmt.Errorf("there is no in-tree plugin %q that a CSI driver can stand in for; there are %s", plugin, strings.Join(Names(), ", "))
		}
		if stage := s[plugin]; stage != Disabled && stage != Enabled && stage != Complete {
			return fmt.Errorf("there is no stage %q of the migration of %s; there are %s, %s and %s", stage, plugin, Disabled, Enabled, Complete)
		}
	}
	return nil
}

// Stage returns the stage of a plugin's migration.
func (s Plugins) Stage(plugin string) Stage {
	if stage, ok := s[plugin]; ok {
		return stage
	}
	return Complete
}

// Enabled returns the plugins that are migrated, sorted.
func (s Plugins) Enabled() []string {
	return slices.DeleteFunc(Names(), func(plugin string) bool { return s.Stage(plugin) == Disabled })
}

// SetOnNode records on a CSINode the plugins for which the node's kubelet uses drivers, and reports
// whether that changed it. C-MIG-5
func SetOnNode(n *storagev1.CSINode, plugins []string) bool {
	is, want := n.Annotations[annotation], strings.Join(plugins, ",")
	if is == want {
		return false
	}
	if want == "" {
		delete(n.Annotations, annotation)
	} else {
		metav1.SetMetaDataAnnotation(&n.ObjectMeta, annotation, want)
	}
	return true
}

// OnNode returns the plugins that a CSINode names. Names are compared literally, without trimming.
// C-MIG-3
func OnNode(n *storagev1.CSINode) map[string]bool {
	if n.Annotations[annotation] == "" {
		return nil
	}
	named := make(map[string]bool, len(names))
	for plugin := range strings.SplitSeq(n.Annotations[annotation], ",") {
		named[plugin] = true
	}
	return named
}

// PV translates a persistent volume of a migrated plugin to CSI, and returns other volumes
// unchanged.
func (s Plugins) PV(pv *corev1.PersistentVolume) (*corev1.PersistentVolume, error) {
	if _, ok := s.Plugin(pv); !ok {
		return pv, nil
	}
	return PV(pv)
}

// Inline returns an inline volume of a pod, as a persistent volume with a generated name; false for
// volumes without a migrated plugin.
func (s Plugins) Inline(v *corev1.Volume, namespace string) (pv *corev1.PersistentVolume, ok bool, err error) {
	if plugin, ok := InlinePlugin(v); !ok || s.Stage(plugin) == Disabled {
		return nil, false, nil
	}
	return Inline(v, namespace)
}

// Plugin returns the in-tree plugin of a persistent volume; false if it is not migrated.
func (s Plugins) Plugin(pv *corev1.PersistentVolume) (string, bool) {
	plugin, ok := Plugin(pv)
	return plugin, ok && s.Stage(plugin) != Disabled
}

// Driver returns the CSI driver that replaces an in-tree plugin; false for none.
func (s Plugins) Driver(plugin string) (string, bool) {
	driver, ok := Driver(plugin)
	return driver, ok && s.Stage(plugin) != Disabled
}
