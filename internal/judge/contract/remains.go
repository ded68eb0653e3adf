package contract

import "github.com/csisim/csisim/internal/judge/verdict"

// LeavesData is that what containers wrote to a volume is there still when it was deleted. Where that is so of all volumes, the driver may
// keep them for a while by design: that is a remark.
// CSI spec: DeleteVolume, "release storage".
func LeavesData(method, volume, file string, always bool) verdict.Verdict {
	other := ""
	if !always {
		other = ", and that of another volume went"
	}
	v := Broken(method, leavesData, verdict.Say("what was written to volume %s stays in %s%s", volume, file, verdict.Kept(other)))
	v.Remark = always
	return v
}
