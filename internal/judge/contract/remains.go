package contract

import "github.com/csisim/csisim/internal/judge/verdict"

// LeavesOrphan reports a file or a directory that a failed call made. It stays although the driver
// has no volume and no snapshot any more. CSI spec: CreateVolume, "idempotent".
func LeavesOrphan(method, file string) verdict.Verdict {
	return Broken(method, leavesOrphan, verdict.Say("%s was made by a call that failed, and stays though every volume is deleted", file))
}

// LeavesData reports that files of a deleted volume are still there. If the files of all volumes
// stay, the driver may keep them for a while on purpose. The verdict is then a remark. CSI spec:
// DeleteVolume, "release storage".
func LeavesData(method, volume, file string, always bool) verdict.Verdict {
	other := ""
	if !always {
		other = ", and that of another volume went"
	}
	v := Broken(method, leavesData, verdict.Say("what was written to volume %s stays in %s%s", volume, file, verdict.Kept(other)))
	v.Remark = always
	return v
}
