package contract

import "fmt"

// leavesData is how a breach is worded. CSI spec: DeleteVolume, "release storage".
const leavesData = "leaves data"

// LeavesData is that what containers wrote to a volume is there still when it was deleted. Where that is so of all volumes, the driver may
// keep them for a while by design: that is a remark.
func LeavesData(method, volume, file string, always bool) Violation {
	detail := fmt.Sprintf("what was written to volume %s stays in %s", volume, file)
	if !always {
		detail += ", and that of another volume went"
	}
	return Violation{Method: method, Rule: leavesData, Detail: detail, Remark: always}
}
