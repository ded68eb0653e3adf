package attacher

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// finalizerOf returns the sidecar's finalizer on attachments and volumes. C-ATT-13
func finalizerOf(driver string) string { return "external-attacher/" + sanitized(driver) }

// sanitized replaces all characters other than letters, digits and dashes with a dash. A name must
// not end with a dash. C-LIB-4
func sanitized(driver string) string {
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' {
			return c
		}
		return '-'
	}, driver)
	if strings.HasSuffix(name, "-") {
		name += "X"
	}
	return name
}

// guardVolume protects a PersistentVolume from deletion while it is attached. C-ATT-12
func (r *run) guardVolume(p *kernel.Process, pv *corev1.PersistentVolume) error {
	if slices.Contains(pv.Finalizers, r.features.finalizer) {
		return nil
	}
	err := r.patchFinalizers(p, pv, func(now []string) ([]string, bool) {
		return append(now, r.features.finalizer), (len(now) == 0) == (len(pv.Finalizers) == 0)
	})
	if err != nil {
		return fmt.Errorf("could not add PersistentVolume finalizer: %w", err)
	}
	return nil
}

// patchFinalizers is a JSON patch that tests the list of finalizers before it changes the list.
// change returns the new list, and whether the old one passes the test. C-ATT-30, C-ATT-31
func (r *run) patchFinalizers(p *kernel.Process, pv *corev1.PersistentVolume, change func(now []string) ([]string, bool)) error {
	passed := false
	_, err := component.PatchMetadata(p, r.Component, store.KeyOf(pv), func(pv *corev1.PersistentVolume) {
		var changed []string
		if changed, passed = change(pv.Finalizers); passed {
			pv.Finalizers = changed
		}
	})
	if err == nil && !passed {
		return errors.New("the server rejected our request due to an error in our request")
	}
	return err
}

// mayRelease: C-ATT-4
func (r *run) mayRelease(pv *corev1.PersistentVolume) bool {
	return r.features.attach && (pv.DeletionTimestamp != nil || r.isOthers(pv)) && slices.Contains(pv.Finalizers, r.features.finalizer)
}

// migratedTo is the annotation that names the driver that replaces an in-tree plugin.
const migratedTo = "pv.kubernetes.io/migrated-to"

// isOthers reports whether a volume belongs to the in-tree plugin. This holds for an in-tree volume
// that was not handed over to the driver. Such a volume loses the finalizer when it is not
// attached. Trace migrated-static
func (r *run) isOthers(pv *corev1.PersistentVolume) bool {
	_, inTree := migration.Plugin(pv)
	return inTree && pv.Annotations[migratedTo] != r.features.driver
}

// syncVolume removes the finalizer from a PersistentVolume that the sidecar no longer needs to
// protect and that no attachment names. C-ATT-30
func (r *run) syncVolume(p *kernel.Process, key store.Key) error {
	pv, ok := component.Cached[*corev1.PersistentVolume](r.Component, key)
	if !ok || !r.mayRelease(pv) {
		return nil
	}
	for range store.Indexed[*storagev1.VolumeAttachment](r.Cache, kind.AttachmentsByVolume, pv.Name) {
		return nil // the end of that attachment queues the volume again
	}
	at := slices.Index(pv.Finalizers, r.features.finalizer)
	err := r.patchFinalizers(p, pv, func(now []string) ([]string, bool) {
		if at >= len(now) || now[at] != r.features.finalizer {
			return nil, false
		}
		return volume.WithoutFinalizers(now, r.features.finalizer), true
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
