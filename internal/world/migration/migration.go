// Package migration translates volumes of in-tree plugins to CSI volumes, because CSI drivers
// replace the plugins. API objects stay in-tree, and each component that handles a volume
// translates it first. As in Kubernetes v1.36, all seven plugins are migrated on every node.
// Plugins lists exceptions. The sidecars of a driver always translate. C-MIG-1, C-MIG-2
package migration

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	csitranslation "k8s.io/csi-translation-lib"
	"k8s.io/klog/v2"
)

var translator = csitranslation.New()

// PV translates a persistent volume of a migrated plugin to CSI, and returns other volumes
// unchanged.
func PV(pv *corev1.PersistentVolume) (*corev1.PersistentVolume, error) {
	if !isInTree(pv) {
		return pv, nil
	}
	translated, err := translator.TranslateInTreePVToCSI(klog.Background(), pv)
	if err != nil {
		return nil, fmt.Errorf("failed to translate in-tree volume %s to CSI: %w", pv.Name, err)
	}
	return translated, nil
}

// isInTree reports whether a persistent volume belongs to a migrated plugin. It avoids the
// translator's loop over the plugins for a CSI volume.
func isInTree(pv *corev1.PersistentVolume) bool {
	return pv.Spec.CSI == nil && translator.IsPVMigratable(pv)
}

// inTreePrefix begins the names of in-tree plugins.
const inTreePrefix = "kubernetes.io/"

// Inline converts an inline volume of a pod to a persistent volume with a generated name; false for
// volumes without a migrated plugin.
func Inline(v *corev1.Volume, namespace string) (pv *corev1.PersistentVolume, ok bool, err error) {
	if _, ok := InlinePlugin(v); !ok {
		return nil, false, nil
	}
	pv, err = translator.TranslateInTreeInlineVolumeToCSI(klog.Background(), v, namespace)
	if err != nil {
		return nil, true, fmt.Errorf("failed to translate inline volume %s to CSI: %w", v.Name, err)
	}
	return pv, true, nil
}

// InlinePlugin returns the in-tree plugin of a pod's inline volume; false if it is not migrated.
func InlinePlugin(v *corev1.Volume) (string, bool) {
	if v.PersistentVolumeClaim != nil || v.Ephemeral != nil || v.CSI != nil || !translator.IsInlineMigratable(v) {
		return "", false
	}
	name, err := translator.GetInTreePluginNameFromSpec(nil, v)
	return name, err == nil
}

// Plugin returns the in-tree plugin of a persistent volume; false if it is not migrated.
func Plugin(pv *corev1.PersistentVolume) (string, bool) {
	if !isInTree(pv) {
		return "", false
	}
	name, err := translator.GetInTreePluginNameFromSpec(pv, nil)
	return name, err == nil
}

// Driver returns the CSI driver that replaces an in-tree plugin.
func Driver(plugin string) (string, bool) {
	if !strings.HasPrefix(plugin, inTreePrefix) || !translator.IsMigratableIntreePluginByName(plugin) {
		return "", false
	}
	driver, err := translator.GetCSINameFromInTreeName(plugin)
	return driver, err == nil
}

// PluginOf returns the in-tree plugin that a CSI driver replaces.
func PluginOf(driver string) (string, bool) {
	if !translator.IsMigratedCSIDriverByName(driver) {
		return "", false
	}
	plugin, err := translator.GetInTreeNameFromCSIName(driver)
	return plugin, err == nil
}

// Class translates the class of an in-tree provisioner for its driver, and returns other classes
// unchanged.
func Class(class *storagev1.StorageClass) (*storagev1.StorageClass, error) {
	if _, ok := Driver(class.Provisioner); !ok {
		return class, nil
	}
	translated, err := translator.TranslateInTreeStorageClassToCSI(klog.Background(), class.Provisioner, class)
	if err != nil {
		return nil, fmt.Errorf("failed to translate storage class: %w", err)
	}
	return translated, nil
}

// InTree returns a CSI volume in the form of its in-tree plugin.
func InTree(pv *corev1.PersistentVolume) (*corev1.PersistentVolume, error) {
	return translator.TranslateCSIPVToInTree(pv)
}

// RepairHandle completes a volume handle if its project or zone is unknown until the volume is on a
// node. C-MIG-14
func RepairHandle(driver, handle, nodeID string) (string, error) {
	if !translator.IsMigratedCSIDriverByName(driver) {
		return handle, nil
	}
	return translator.RepairVolumeHandle(driver, handle, nodeID)
}
