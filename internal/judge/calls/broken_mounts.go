package calls

import (
	"path"
	"slices"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// staysMounted is the form of a remark on a volume that stays mounted while its file system fails.
const staysMounted verdict.Form = "does not unmount a broken file system"

// brokenMounts is the effect of a fault that makes mounted file systems fail.
const brokenMounts trace.Effect = "fail-mounted"

// mostRefusals is the number of successive failures that prove that a driver fails permanently.
const mostRefusals = 3

// StaysMounted returns a remark for each method that never unmounted a volume with a failed file
// system, however often it was called. The pod cannot end until the file system works again.
func StaysMounted(events []*trace.Event) (all []verdict.Verdict) {
	failures := map[string]int{} // number of successive failures, by the method and the path
	for _, e := range events {
		if e.Kind != trace.Call || !unmounts(e) {
			continue
		}
		key := e.Method + " " + e.Node + " " + targetOf(e)
		if e.Effect != brokenMounts || e.Code == "" {
			delete(failures, key)
			continue
		}
		failures[key]++
		if failures[key] == mostRefusals && !slices.ContainsFunc(all, func(v verdict.Verdict) bool { return v.Method == e.Method }) {
			all = append(all, staying(e))
		}
	}
	return all
}

func unmounts(e *trace.Event) bool {
	switch path.Base(e.Method) {
	case "NodeUnpublishVolume", "NodeUnstageVolume":
		return true
	}
	return false
}

// targetOf returns the path that a call has to unmount.
func targetOf(e *trace.Event) string {
	switch r := e.Request.(type) {
	case interface{ GetTargetPath() string }:
		return r.GetTargetPath()
	case interface{ GetStagingTargetPath() string }:
		return r.GetStagingTargetPath()
	}
	return ""
}

func staying(e *trace.Event) verdict.Verdict {
	v := verdict.Verdict{Form: staysMounted, Method: e.Method, Code: e.Code, Event: e.Seq, Found: []string{e.Message}, Remark: true}
	return v.Worded(verdict.Say("%s fails as long as the mounted file system fails, so the pod cannot end: %s",
		verdict.Kept(path.Base(e.Method)), e.Message))
}

// Advice returns advice about a remark of this package; empty for other verdicts.
func Advice(v verdict.Verdict) string {
	if v.Form != staysMounted {
		return ""
	}
	return "unmount without looking at the mount point first, or take ESTALE, EIO and ENOTCONN for a mount: " +
		"umount2(2) works although stat(2) fails, as mount.CleanupMountPoint of k8s.io/mount-utils does"
}

// IsSpontaneous reports whether a remark is about an unexplained error.
func IsSpontaneous(v verdict.Verdict) bool { return v.Form == clearsUp }

// IsNoted reports whether a remark comes from this package. No option makes these remarks failures.
func IsNoted(v verdict.Verdict) bool { return v.Form == clearsUp || v.Form == staysMounted }
