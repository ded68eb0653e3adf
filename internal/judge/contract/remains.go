package contract

import "github.com/csisim/csisim/internal/judge/verdict"

// LeavesData reports that files of a deleted volume are still there. If the files of all volumes
// stay, the driver may keep them for a while by design: the verdict is a remark then.
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
