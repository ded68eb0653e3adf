package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/incident/fields"
)

// A claim waits for a provisioner that does nothing.
var _ = register("not-provisioned", consequence, func(s *Story) (found []Finding) {
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		name, isClaim := cutPrefix(key, "persistentvolumeclaims/")
		if !isClaim || fields.Text(s.objects[key], "status", "phase") != "Pending" {
			continue
		}
		driver := fields.Text(s.objects[key], "metadata", "annotations", "volume.kubernetes.io/storage-provisioner")
		v := s.names.group[byClaim+name].now()
		if driver == "" || len(s.find("provision", v)) > 0 || strings.HasPrefix(driver, "kubernetes.io/") {
			continue
		}
		found = append(found, s.unprovisioned(name, driver, v))
	}
	return found
})

func (s *Story) unprovisioned(claim, driver string, v *Volume) Finding {
	f := Finding{
		Title: fmt.Sprintf("Claim %s is pending: nothing provisions it", shortName(claim)), Component: "csi-provisioner", Certainty: Likely,
		Until: s.Ended, volume: v, Chain: []string{"claim " + shortName(claim) + " waits for csi-provisioner of " + driver},
		Cause:  "csi-provisioner of " + driver + " reports no attempt: it does not run, is not leader, or ignores the claim",
		Advice: "compare the provisioner of the StorageClass with the name of the driver",
	}
	if s.Sources["csi-provisioner"] == 0 {
		f.Certainty, f.Component = Unknown, "unknown"
		f.Cause = "the log of csi-provisioner is not among the logs"
	}
	return f
}
