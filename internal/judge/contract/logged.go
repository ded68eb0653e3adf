package contract

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// LogsSecret returns the verdict that a driver has written a secret of a call to its log. line
// shows the place without the secret. csi.proto: csi_secret, "sensitive information and MUST be
// treated as such (e.g. not logged)".
func LogsSecret(method, key, log, line string) verdict.Verdict {
	return Broken(method, logsSecret, verdict.Say("%s", fmt.Sprintf("%s has the value of %s: %s", log, key, line)))
}

// secretsReturned looks for a request's credentials in contexts that the driver returns. Kubernetes
// stores these contexts in PersistentVolumes and VolumeAttachments, which are not secret.
func (f *findings) secretsReturned(req, resp proto.Message) {
	var field string
	var context map[string]string
	switch r := resp.(type) {
	case *csi.CreateVolumeResponse:
		field, context = "volume_context", r.GetVolume().GetVolumeContext()
	case *csi.ControllerPublishVolumeResponse:
		field, context = "publish_context", r.GetPublishContext()
	}
	if withSecrets, ok := req.(interface{ GetSecrets() map[string]string }); len(context) == 0 || !ok || len(withSecrets.GetSecrets()) == 0 {
		return
	}
	credentials, open := trace.Credentials(req), fmt.Sprint(trace.WithoutSecrets(req))
	for _, key := range slices.Sorted(maps.Keys(context)) {
		for _, secret := range credentials {
			if trace.LooksSecret(secret.Value) && strings.Contains(context[key], secret.Value) && !strings.Contains(open, secret.Value) {
				f.list = append(f.list, Broken(f.method, returnsSecret, verdict.Say("%s has the value of %s under %s", field, secret.Key, key)))
			}
		}
	}
}
