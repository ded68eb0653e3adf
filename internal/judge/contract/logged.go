package contract

import (
	"fmt"

	"github.com/csisim/csisim/internal/judge/verdict"
)

// LogsSecret is that a driver has written a secret of a call to its log, in a line that is shown without it.
// csi.proto: csi_secret, "sensitive information and MUST be treated as such (e.g. not logged)".
func LogsSecret(method, key, log, line string) verdict.Verdict {
	return Broken(method, logsSecret, verdict.Say("%s", fmt.Sprintf("%s has the value of %s: %s", log, key, line)))
}
