package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/incident/fields"
)

// ofAddonsKinds are the objects of CSI-Addons that have a result.
var ofAddonsKinds = map[string]string{"reclaimspacejobs": "ReclaimSpaceJob", "encryptionkeyrotationjobs": "EncryptionKeyRotationJob", "networkfences": "NetworkFence"}

// A job of CSI-Addons, or a fence, has failed.
var _ = register(addons, consequence, func(s *Story) (found []Finding) {
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		resource, name, _ := strings.Cut(key, "/")
		object := s.objects[key]
		if kind := ofAddonsKinds[resource]; kind != "" && fields.Text(object, "status", "result") == "Failed" {
			found = append(found, s.failedAddon(kind, name, object))
		}
	}
	return found
})

func (s *Story) failedAddon(kind, name string, object map[string]any) Finding {
	f := Finding{
		Title: fmt.Sprintf("%s %s has failed: %s", kind, shortName(name), fields.Text(object, "status", "message")), Component: "unknown", Certainty: Certain,
		Since: s.createdAt(object), Until: s.Ended, object: object,
		Advice: "look in the logs of the manager of CSI-Addons and of its sidecar beside the driver",
	}
	for _, condition := range fields.List(object, "status", "conditions") {
		if fields.Text(condition, "type") == "Failed" {
			f.Cause = fields.Text(condition, "message")
		}
	}
	f.Cause = cmp.Or(f.Cause, fields.Text(object, "status", "message"))
	return f
}
