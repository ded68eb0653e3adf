package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

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
		f := s.unprovisioned(name, driver, v)
		f.Since = s.createdAt(s.objects[key])
		found = append(found, f)
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

// A claim names no class, so no provisioner is responsible for it. C-PV-11
var _ = register("claim-without-class", cause, func(s *Story) (found []Finding) {
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		name, isClaim := cutPrefix(key, "persistentvolumeclaims/")
		claim := s.objects[key]
		if !isClaim || fields.Text(claim, "status", "phase") != "Pending" || fields.At(claim, "spec", "storageClassName") != nil {
			continue
		}
		if fields.At(claim, "spec") == nil || fields.Text(claim, "spec", "volumeName") != "" {
			continue
		}
		f := s.withoutClass(name)
		f.Since = s.createdAt(claim)
		found = append(found, f)
	}
	return found
})

func (s *Story) withoutClass(claim string) Finding {
	f := Finding{
		Title: fmt.Sprintf("Claim %s is pending: it names no StorageClass", shortName(claim)), Component: "kube-controller-manager", Certainty: Certain,
		Until: s.Ended, volume: s.names.group[byClaim+claim].now(), Chain: []string{"claim " + shortName(claim) + " waits for a default class, or for a volume that fits"},
		Cause:  "the cluster has no default class among the logs",
		Advice: "name a class in a new claim, or mark one as the default: storageclass.kubernetes.io/is-default-class",
	}
	if class := s.defaultClass(); class != "" {
		f.Cause = "the default class " + class + " was not set in the claim: it was created or marked later"
	}
	return f
}

// defaultClass returns the name of a class that is marked as the default; "" if there is none.
func (s *Story) defaultClass() string {
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		name, isClass := cutPrefix(key, "storageclasses/")
		if isClass && fields.Text(s.objects[key], "metadata", "annotations", "storageclass.kubernetes.io/is-default-class") == "true" {
			return name
		}
	}
	return ""
}

// createdAt returns the time of an object's creation since the beginning of the trace. It is 0 if
// it is unknown or earlier.
func (s *Story) createdAt(object map[string]any) time.Duration {
	created, err := time.Parse(time.RFC3339, fields.Text(object, "metadata", "creationTimestamp"))
	if err != nil || s.Began.IsZero() {
		return 0
	}
	return max(0, created.Sub(s.Began))
}
