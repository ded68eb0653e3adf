package explain

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/csisim/csisim/internal/incident/fields"
	"github.com/csisim/csisim/internal/incident/messages"
	"github.com/csisim/csisim/internal/world/lazyregexp"
	"github.com/csisim/csisim/internal/world/trace"
)

// event adds the fact of an Event.
func (s *Story) event(l *trace.Line) {
	f := fact{at: l.At(), by: "event", node: l.Node, seen: Place{l.Seq, l.Src}}
	f.means, f.fields = messages.OfEvent(l.M, l.Msg, l.Name)
	f.code = f.fields["code"]
	s.onNodeOfPod(&f)
	if l.From == snapshotController {
		f.by = l.From
	}
	// The earlier failures, which the Event counts.
	if count, _ := fields.At(l.Obj, "count").(float64); count > 1 {
		f.fields["failures"] = strconv.Itoa(int(count) - 1)
	}
	if pod := f.fields["pod"]; pod != "" && l.From == "kubelet" {
		s.pod(pod).node = l.Node
	}
	s.fact(&f)
	if kind, name, _ := strings.Cut(l.Name, "/"); kind == "Pod" {
		s.unscheduled(l, name)
	}
}

// onNodeOfPod sets the node of an Event about a pod, because kubectl prints the node only for some
// of them.
func (s *Story) onNodeOfPod(f *fact) {
	p := s.pods[f.fields["pod"]]
	if p == nil || p.node == "" {
		return
	}
	f.node = cmp.Or(f.node, p.node)
	switch f.means {
	case messages.AttachFailed, messages.Attached, messages.MultiAttach:
		f.fields["node"] = cmp.Or(f.fields["node"], p.node)
	}
}

// volumeTrouble matches the reasons of the scheduler that are about volumes.
var volumeTrouble = lazyregexp.New(`volume node affinity conflict|unbound immediate PersistentVolumeClaims|max volume count|didn't find available persistent volumes|persistentvolumeclaim "[^"]*" (?:not found|is being deleted)|did not have enough free storage|ReadWriteOncePod|in-use by another pod`)

// unscheduled notes a pod that cannot be scheduled because of a volume.
func (s *Story) unscheduled(l *trace.Line, name string) {
	switch {
	case l.M == "FailedScheduling" && volumeTrouble().MatchString(l.Msg):
		p := s.pod(name)
		if !p.waits {
			p.since = l.At()
		}
		p.waits, p.reason, p.seen = true, l.Msg, Place{l.Seq, l.Src}
	case l.M == "Scheduled":
		p := s.pod(name)
		p.waits = false
		if node := assigned().FindStringSubmatch(l.Msg); node != nil {
			p.node = node[1]
		}
	}
}

var assigned = lazyregexp.New(`Successfully assigned \S+ to (\S+)$`)
