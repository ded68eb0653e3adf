package contract

import "fmt"

// logsSecret is how a breach is worded. csi.proto: csi_secret, "sensitive information and MUST be treated as such (e.g. not logged)".
const logsSecret = "logs a secret"

// LogsSecret is that a driver has written a secret of a call to its log, in a line that is shown without it.
func LogsSecret(method, key, log, line string) Violation {
	return Violation{Method: method, Rule: logsSecret, Detail: fmt.Sprintf("%s has the value of %s: %s", log, key, line)}
}
