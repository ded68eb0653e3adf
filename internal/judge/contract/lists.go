package contract

import (
	"slices"

	"github.com/csisim/csisim/internal/judge/verdict"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

const keepsCapacity = "a volume has the capacity that CreateVolume answered"

// CheckPages compares a list that was read in pages to complete lists that were read before and
// after it. It ignores objects that appear or vanish meanwhile, which are in only one of the
// complete lists.
func CheckPages(method string, before, paged, after []string, size int) []verdict.Verdict {
	count := map[string]int{}
	for _, id := range paged {
		count[id]++
	}
	for _, id := range both(before, after) {
		switch {
		case count[id] == 0:
			return broken(method, leavesOutOnPages, "%s is on no page of max_entries %d", id, size)
		case count[id] > 1:
			return broken(method, listsTwice, "%s is on %d pages of max_entries %d", id, count[id], size)
		}
	}
	return nil
}

// CheckFilter compares a filtered list to the matching objects of complete lists before and after
// it.
func CheckFilter(method, filter string, before, filtered, after []string) []verdict.Verdict {
	has := setOf(filtered)
	for _, id := range both(before, after) {
		if !has[id] {
			return broken(method, leavesOut, "%s, asked for with %s", id, verdict.Quoted(filter))
		}
	}
	return nil
}

// CheckDeletedSnapshot compares a list that was requested with a deleted snapshot's id to complete
// lists before and after it. The list must be empty, unless the driver deletes the snapshot later.
// An error is only a remark, because csi-snapshotter also treats an empty list as an error.
func CheckDeletedSnapshot(id string, before, filtered, after []string, err error) []verdict.Verdict {
	const method = "Controller/ListSnapshots"
	switch code := status.Code(err); code {
	case codes.OK:
		if slices.Contains(filtered, id) && !slices.Contains(before, id) && !slices.Contains(after, id) {
			return broken(method, listsDeleted, "%s, asked for with its snapshot_id", id)
		}
	case codes.NotFound, codes.InvalidArgument, codes.Internal, codes.Unknown:
		remark := Broken(method, failsForDeleted, verdict.Say("%v", verdict.Kept(code)).Aside(" (%s)", status.Convert(err).Message()))
		remark.Remark = true
		return []verdict.Verdict{remark}
	}
	return nil
}

// CheckNodes compares a volume's nodes in the answer of ControllerGetVolume to the nodes in
// ListVolumes before and after it. The CSI spec requires each entry to name all nodes to which the
// volume is published.
func CheckNodes(method, volume string, before, got, after []string) []verdict.Verdict {
	for _, node := range both(before, after) {
		if !slices.Contains(got, node) {
			return broken(method, LeavesOutNode, "volume %s is attached to node %s, as ListVolumes says", volume, node)
		}
	}
	return nil
}

// CheckCapacity compares the capacity of a volume in an answer to the capacity in the answer that
// created the volume. No call in between makes a volume smaller. CSI "Volume": 0 is an unknown
// capacity.
func CheckCapacity(method string, answer proto.Message, field string, is, made *csi.Volume) []verdict.Verdict {
	if is.GetCapacityBytes() == 0 || is.GetCapacityBytes() >= made.GetCapacityBytes() {
		return nil
	}
	f := findings{method: method, of: answer}
	f.add(field, keepsCapacity, "is %d of volume %s, for which CreateVolume answered %d", is.GetCapacityBytes(), made.GetVolumeId(), made.GetCapacityBytes())
	return f.list
}

// RefusesPage returns the verdict on a driver that lists everything at once, but not in pages.
func RefusesPage(method string, err error) verdict.Verdict {
	s := status.Convert(err)
	return Broken(method, refusesPages, verdict.Say("%v", verdict.Kept(s.Code())).Aside(" (%s)", s.Message()))
}

// both returns the elements that two lists have in common.
func both(one, other []string) []string {
	has := setOf(other)
	return slices.DeleteFunc(slices.Clone(one), func(id string) bool { return !has[id] })
}

func setOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, id := range list {
		set[id] = true
	}
	return set
}
