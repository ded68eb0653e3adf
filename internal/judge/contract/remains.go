package contract

import "github.com/csisim/csisim/internal/judge/verdict"

// LeavesOrphan reports a file or a directory that a failed call made. It stays although the driver
// has no volume and no snapshot any more. CSI spec: CreateVolume, "idempotent".
func LeavesOrphan(method, file string) verdict.Verdict {
	return Broken(method, leavesOrphan, verdict.Say("%s was made by a call that failed, and stays though every volume is deleted", file))
}

// LeavesArchive reports that a file of a deleted snapshot is still there. It is a remark if the
// files of all snapshots stay. CSI spec: DeleteSnapshot, "the artifacts associated with the
// snapshot".
func LeavesArchive(method, snapshot, file string, always bool) verdict.Verdict {
	other := ofAnother("snapshot", always)
	v := Broken(method, leavesData, verdict.Say("files of snapshot %s stay in %s%s", snapshot, file, verdict.Kept(other)))
	v.Remark = always
	return v
}

// LeavesData reports that files of a deleted volume are still there. If the files of all volumes
// stay, the driver may keep them for a while on purpose. The verdict is then a remark. CSI spec:
// DeleteVolume, "release storage".
func LeavesData(method, volume, file string, always bool) verdict.Verdict {
	other := ofAnother("volume", always)
	v := Broken(method, leavesData, verdict.Say("what was written to volume %s stays in %s%s", volume, file, verdict.Kept(other)))
	v.Remark = always
	return v
}

// ofAnother returns the end of a verdict if the driver removes the files of other objects of the
// same kind.
func ofAnother(kind string, always bool) string {
	if always {
		return ""
	}
	return ", and that of another " + kind + " went"
}
