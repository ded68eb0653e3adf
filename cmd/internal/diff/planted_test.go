package diff

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/trace"
)

// edit is a change to a trace that must show up as a difference.
type edit func(t *testing.T, lines []trace.Line) []trace.Line

// A planted difference in a real trace is found at its level, in comparison with the original trace
// and with the real cluster's second run of the same scenario.
func TestPlantedDifferencesAreFoundAtTheirLevel(t *testing.T) {
	const (
		b4  = "lifecycle-stub" // attach and stage
		c1  = "block-attach"
		l01 = "stage-internal-twice"
		l16 = "stage-backoff"
		o1  = "node-down-force-detach"
		aa5 = "unstage-hang"

		republish = "tokens-republish"
		listing   = "list-volumes-reconcile"
	)
	for _, test := range []struct {
		name, in string
		plant    edit
		level    Level
		says     string
	}{
		{"no NodeUnstage", b4, drop(callsOf("NodeUnstageVolume")), Calls, "NodeUnstageVolume is only in"},
		{"an extra ControllerPublish, later", b4, repeated(callsOf("ControllerPublishVolume"), 3_000), Calls, "ControllerPublishVolume is only in"},
		{"a second DeleteVolume after a second", b4, repeated(callsOf("DeleteVolume"), 1_000), Calls, "DeleteVolume is only in"},
		{"NodePublish before NodeStage", b4, swap(callsOf("NodeStageVolume"), callsOf("NodePublishVolume")), Calls, "Volume is only in"},
		{"detach before unstage", b4, swap(callsOf("NodeUnstageVolume"), callsOf("ControllerUnpublishVolume")), Calls, "come in another order"},
		{"another result code", l01, edited(callsOf("NodeStageVolume"), func(l *trace.Line) { l.Code = "Aborted" }), Calls, "the result code of NodeStageVolume"},
		{"success instead of failure", l01, edited(callsOf("NodeStageVolume"), func(l *trace.Line) { l.Code = "" }), Calls, "NodeStageVolume"},
		{"the call comes from another node", b4, edited(callsOf("NodePublishVolume"), func(l *trace.Line) { l.Node = "node-b" }), Calls, "NodePublishVolume is only in"},
		{"attach to another node", b4, edited(callsOf("ControllerPublishVolume"), inRequest("node-b", "node_id")), Calls, "ControllerPublishVolume is only in"},

		{"another staging directory", b4, edited(callsOf("NodeStageVolume"), inRequest("/var/lib/kubelet/plugins/kubernetes.io/csi/stub.csi.example.com/"+strings.Repeat("0a", 32)+"/globalmount", "staging_target_path")), Requests, "staging_target_path"},
		{"another target path", b4, edited(callsOf("NodeUnpublishVolume"), inRequest("/var/lib/kubelet/pods/x/mount", "target_path")), Requests, "target_path"},
		{"another access mode", b4, edited(callsOf("NodePublishVolume"), inRequest("SINGLE_NODE_WRITER", "volume_capability", "access_mode", "mode")), Requests, "volume_capability.access_mode.mode"},
		{"block instead of mount", b4, edited(callsOf("NodeStageVolume"), inRequest(map[string]any{}, "volume_capability", "block")), Requests, "volume_capability.block"},
		{"readonly", b4, edited(callsOf("ControllerPublishVolume"), inRequest(true, "readonly")), Requests, "readonly"},
		{"a key of the publish context is lost", b4, edited(callsOf("NodeStageVolume"), inRequest(nil, "publish_context")), Requests, "publish_context"},
		{"another size", b4, edited(callsOf("CreateVolume"), inRequest("1", "capacity_range", "required_bytes")), Requests, "capacity_range.required_bytes"},
		{"a parameter is lost", b4, edited(callsOf("CreateVolume"), inRequest(map[string]any{}, "parameters")), Requests, "parameters"},

		{"no finalizer on the attachment", b4, edited(patchesOf("volumeattachments", "finalizers"), inPatch(nil, "metadata", "finalizers")), Objects, "metadata.finalizers"},
		{"no protection of the claim", b4, edited(additionsOf("persistentvolumeclaims"), inObject(nil, "metadata", "finalizers")), Objects, "metadata.finalizers"},
		{"another annotation", b4, edited(patchesOf("volumeattachments", "node-id"), inPatch("node-x", "metadata", "annotations", "csi.alpha.kubernetes.io/node-id")), Objects, "csi.alpha.kubernetes.io/node-id"},
		{"an annotation is missing", b4, drop(patchesOf("persistentvolumeclaims", "bind-completed")), Objects, "is only in"},
		{"the attachment has another name", b4, edited(additionsOf("volumeattachments"), func(l *trace.Line) { l.Name = "csi-" + strings.Repeat("0a", 32) }), Objects, "is only in"},
		{"the claim is not bound", b4, drop(patchesOf("persistentvolumeclaims", `"phase":"Bound"`)), Objects, "is only in"},
		{"the volume is not reported in use", b4, drop(patchesOf("nodes", "volumesInUse")), Objects, "is only in"},
		{"staged before it is reported in use", b4, swap(callsOf("NodeStageVolume"), patchesOf("nodes", "volumesInUse")), Objects, "order of cause and effect"},
		{"the attachment goes before the detach", b4, move(callsOf("ControllerUnpublishVolume"), 200), Objects, "order of cause and effect"},
		{"the pod's deletion is not requested", b4, drop(patchesOf("pods", `"deletionGracePeriodSeconds":30`)), Objects, "is only in"},
		{"the pod does not succeed", b4, edited(patchesOf("pods", "Succeeded"), inPatch("Failed", "status", "phase")), Objects, "status.phase"},
		{"the volume is not deleted", b4, drop(linesThat(func(l trace.Line) bool { return l.R == "persistentvolumes" && l.Ev == "DELETED" })), Objects, "DELETED"},

		{"half the backoff", l16, move(nth(callsOf("NodeStageVolume"), 7), -16_000), Gaps, "between NodeStageVolume and its retry"},
		{"double the backoff", l16, move(nth(callsOf("NodeStageVolume"), 5), 8_000), Gaps, "between NodeStageVolume and its retry"},
		{"detach after 3 minutes instead of 6", o1, move(callsOf("ControllerUnpublishVolume"), -180_000), Gaps, "ControllerUnpublishVolume"},

		{"published long after it was staged", b4, move(callsOf("NodePublishVolume"), 1_000), Gaps, "from NodeStageVolume to NodePublishVolume"},
		{"unstaged long after it was unpublished", b4, move(callsOf("NodeUnstageVolume"), 1_000), Gaps, "from NodeUnpublishVolume to NodeUnstageVolume"},

		{"statistics fail", republish, every(callsOf("NodeGetVolumeStats"), func(l *trace.Line) { l.Code = "Internal" }), Calls, "NodeGetVolumeStats is only in"},
		{"statistics of another path", republish, every(callsOf("NodeGetVolumeStats"), inRequest("/tmp", "volume_path")), Calls, "NodeGetVolumeStats is only in"},
		{"volumes are not listed", listing, none(callsOf("ListVolumes")), Calls, "ListVolumes is only in"},

		{"an event is lost", b4, drop(eventsOf("SuccessfulAttachVolume")), Events, "SuccessfulAttachVolume is only in"},
		{"an event more", b4, repeated(eventsOf("SuccessfulAttachVolume"), 5_000), Events, "SuccessfulAttachVolume is only in"},
		{"another message", l01, edited(eventsOf("FailedMount"), func(l *trace.Line) { l.Msg += "!" }), Events, "FailedMount"},
		{"a warning is normal", l01, edited(eventsOf("FailedMount"), func(l *trace.Line) { l.R = "Normal" }), Events, "FailedMount"},
		{"an event about another object", l01, edited(eventsOf("FailedMount"), func(l *trace.Line) { l.Name = "Pod/other" }), Events, "FailedMount is only in"},

		{"a file is missing", b4, edited(listingsOf("while mounted"), withListing(func(e string) (string, bool) { return e, !strings.Contains(e, "vol_data.json") })), Files, "vol_data.json"},
		{"wrong vol_data.json", b4, edited(listingsOf("while mounted"), withListing(func(e string) (string, bool) {
			return strings.Replace(e, `"volumeLifecycleMode":"Persistent"`, `"volumeLifecycleMode":"Ephemeral"`, 1), true
		})), Files, "vol_data.json"},
		{"another mode", b4, edited(listingsOf("while mounted"), withListing(func(e string) (string, bool) {
			return strings.Replace(e, "globalmount/ [mount ext4 rw", "globalmount/ [mount ext4 ro", 1), true
		})), Files, "globalmount"},
		{"mounted with another option", b4, edited(listingsOf("while mounted"), withListing(func(e string) (string, bool) {
			return strings.Replace(e, "globalmount/ [mount ext4 rw", "globalmount/ [mount ext4 rw,noexec", 1), true
		})), Files, "globalmount"},
		{"the late unstage leaves the mount of the running pod", aa5, edited(listingsOf("after the hung unstage came through"), withListing(func(e string) (string, bool) {
			return strings.Replace(e, "globalmount/ 750", "globalmount/ [mount ext4 rw,relatime src=/vol] 755", 1), true
		})), Files, "globalmount"},
		{"something is left behind", b4, edited(listingsOf("after unmount"), withListing(func(e string) (string, bool) {
			return strings.Replace(e, "plugins_registry/ 750", "pods/leftover/ 750", 1), true
		})), Files, "pods/leftover/"},
		{"the device is not mapped", c1, edited(listingsOf("while mounted"), withListing(func(e string) (string, bool) { return e, !strings.Contains(e, " -> ") })), Files, "volumeDevices"},
		{"the container gets another path", b4, edited(askedFor("CreateContainer"), inObject("/tmp", "mounts")), Runtime, "CreateContainer differs"},
	} {
		t.Run(test.name, func(t *testing.T) {
			planted := test.plant(t, recording(t, test.in))
			others := map[string][]trace.Line{"itself": recording(t, test.in)}
			if slices.Contains(names(t, "repeats/"), "repeats/"+test.in) {
				others["its repeat"] = recording(t, "repeats/"+test.in)
			}
			for _, other := range slices.Sorted(maps.Keys(others)) {
				report := Compare(planted, others[other])
				found := report.Of(test.level)
				require.NotEmpty(t, found, "against %s:\n%s", other, described(t, report))
				assert.True(t, slices.ContainsFunc(found, func(d Difference) bool { return strings.Contains(d.What+" "+d.Subject, test.says) }),
					"against %s: want one that says %q\n%s", other, test.says, described(t, report))
			}
		})
	}
}

// A selector selects lines.
type selector func(lines []trace.Line) []int

func linesThat(wanted func(trace.Line) bool) selector {
	return func(all []trace.Line) (found []int) {
		for i, l := range all {
			if wanted(l) && l.Ev != "INIT" {
				found = append(found, i)
			}
		}
		return found
	}
}

func callsOf(method string) selector {
	return linesThat(func(l trace.Line) bool { return strings.HasSuffix(l.M, "/"+method) })
}

func eventsOf(reason string) selector {
	return linesThat(func(l trace.Line) bool { return l.K == trace.KubeEvent && l.M == reason })
}

func listingsOf(moment string) selector {
	return linesThat(func(l trace.Line) bool { return l.K == trace.Files && l.Msg == moment })
}

func askedFor(method string) selector {
	return linesThat(func(l trace.Line) bool { return l.K == trace.Runtime && l.M == method })
}

func additionsOf(resource string) selector {
	return linesThat(func(l trace.Line) bool { return l.R == resource && l.Ev == "ADDED" })
}

func patchesOf(resource, containing string) selector {
	return linesThat(func(l trace.Line) bool {
		return l.R == resource && l.Ev == "MODIFIED" && strings.Contains(canonical(l.Patch), containing)
	})
}

func nth(s selector, n int) selector {
	return func(all []trace.Line) []int { return s(all)[n : n+1] }
}

// first returns the first selected line.
func (s selector) first(t *testing.T, all []trace.Line) int {
	t.Helper()
	found := s(all)
	require.NotEmpty(t, found, "nothing to plant the difference in")
	return found[0]
}

func drop(s selector) edit {
	return func(t *testing.T, all []trace.Line) []trace.Line {
		i := s.first(t, all)
		return slices.Delete(all, i, i+1)
	}
}

// every edits all selected lines, and none drops them.
func every(s selector, how func(*trace.Line)) edit {
	return func(t *testing.T, all []trace.Line) []trace.Line {
		s.first(t, all)
		for _, i := range s(all) {
			how(&all[i])
		}
		return all
	}
}

func none(s selector) edit {
	return func(t *testing.T, all []trace.Line) []trace.Line {
		s.first(t, all)
		for _, i := range slices.Backward(s(all)) {
			all = slices.Delete(all, i, i+1)
		}
		return all
	}
}

// repeated adds the line once more, ms milliseconds later.
func repeated(s selector, ms int64) edit {
	return func(t *testing.T, all []trace.Line) []trace.Line {
		again := all[s.first(t, all)]
		again.T += ms
		return inOrder(append(all, again))
	}
}

// move shifts the line in time.
func move(s selector, ms int64) edit {
	return func(t *testing.T, all []trace.Line) []trace.Line {
		all[s.first(t, all)].T += ms
		return inOrder(all)
	}
}

// swap exchanges the times of two lines.
func swap(x, y selector) edit {
	return func(t *testing.T, all []trace.Line) []trace.Line {
		i, j := x.first(t, all), y.first(t, all)
		all[i].T, all[j].T = all[j].T, all[i].T
		return inOrder(all)
	}
}

func inOrder(all []trace.Line) []trace.Line {
	slices.SortStableFunc(all, func(x, y trace.Line) int { return int(x.T - y.T) })
	return all
}

func edited(s selector, how func(*trace.Line)) edit {
	return func(t *testing.T, all []trace.Line) []trace.Line {
		i := s.first(t, all)
		before := canonical(all[i])
		how(&all[i])
		require.NotEqual(t, before, canonical(all[i]), "the plant changes nothing")
		return all
	}
}

// inRequest, inPatch and inObject set a field; nil removes it.
func inRequest(value any, path ...string) func(*trace.Line) {
	return func(l *trace.Line) { l.Req = having(l.Req, value, path...) }
}

func inPatch(value any, path ...string) func(*trace.Line) {
	return func(l *trace.Line) { l.Patch = having(l.Patch, value, path...) }
}

func inObject(value any, path ...string) func(*trace.Line) {
	return func(l *trace.Line) { l.Obj = having(l.Obj.(map[string]any), value, path...) }
}

func having(fields map[string]any, value any, path ...string) map[string]any {
	out := maps.Clone(fields)
	switch inner, _ := out[path[0]].(map[string]any); {
	case len(path) > 1:
		out[path[0]] = having(inner, value, path[1:]...)
	case value == nil:
		delete(out, path[0])
	default:
		out[path[0]] = value
	}
	return out
}

func withListing(each func(string) (string, bool)) func(*trace.Line) {
	return func(l *trace.Line) {
		var kept []any
		for _, entry := range l.Obj.([]any) {
			if text, ok := each(entry.(string)); ok {
				kept = append(kept, text)
			}
		}
		l.Obj = kept
	}
}
