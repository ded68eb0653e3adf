package manager

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// healthPrefix is the prefix of the annotations that the volume-condition reporters of sidecars
// write, one for each node. A-COND-5
const healthPrefix = "csiaddons.openshift.io/volumehealth."

// tidyHealth removes annotations of volume conditions that are no longer renewed because the node
// was deleted. A-COND-6
func (m *Manager) tidyHealth(p *kernel.Process) {
	for {
		for claim := range store.List[*corev1.PersistentVolumeClaim](m.Cache, "") {
			stale := staleHealth(claim, p.Now().Add(-m.opts.HealthThreshold))
			if len(stale) == 0 {
				continue
			}
			// A failed patch is repeated in the next round.
			_, _ = component.PatchMetadata(p, m.Component, store.KeyOf(claim), func(c *corev1.PersistentVolumeClaim) {
				for _, key := range stale {
					delete(c.Annotations, key)
				}
			})
		}
		p.Idle(m.opts.HealthInterval)
	}
}

// staleHealth returns the keys of annotations of conditions that were last observed before a time.
// Malformed annotations stay. A-COND-6
func staleHealth(claim *corev1.PersistentVolumeClaim, before time.Time) (stale []string) {
	if claim.DeletionTimestamp != nil {
		return nil
	}
	for key, value := range claim.Annotations { // any order: they are sorted
		if !strings.HasPrefix(key, healthPrefix) {
			continue
		}
		var seen struct {
			LastChecked string `json:"lastChecked"`
		}
		if json.Unmarshal([]byte(value), &seen) != nil {
			continue
		}
		if at, err := time.Parse(time.RFC3339, seen.LastChecked); err == nil && at.Before(before) {
			stale = append(stale, key)
		}
	}
	slices.Sort(stale)
	return stale
}
