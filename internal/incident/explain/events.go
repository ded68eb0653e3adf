package explain

import (
	"strings"

	"github.com/csisim/csisim/internal/incident/messages"
	"github.com/csisim/csisim/internal/world/lazyregexp"
	"github.com/csisim/csisim/internal/world/trace"
)

// spoken maps reasons of Events to the program that prints the same messages.
var spoken = map[string]string{
	"FailedAttachVolume": "kube-controller-manager", "FailedMount": "kubelet", "FailedMapVolume": "kubelet", "SuccessfulAttachVolume": "kube-controller-manager",
	"FailedUnMount": "kubelet", "VolumeResizeFailed": "kubelet",
}

// event adds the fact of an Event.
func (s *Story) event(l *trace.Line) {
	kind, name, _ := strings.Cut(l.Name, "/")
	if !strings.Contains(name, "/") {
		name = "default/" + name
	}
	f := fact{at: l.At(), by: "event", node: l.Node, seen: Place{l.Seq, l.Src}}
	if program := spoken[l.M]; program != "" {
		if m, ok := messages.Named(program).Match(strings.TrimSpace(l.Msg), noPairs); ok {
			f.means, f.fields, f.code = m.Means, m.Fields, m.Fields["code"]
		}
	}
	if f.fields == nil {
		f.means, f.fields = meaningOf(l)
		f.code = f.fields["code"]
	}
	if kind == "Pod" {
		f.fields["pod"] = name
		if l.From == "kubelet" {
			s.pod(name).node = l.Node
		}
	}
	if kind == "PersistentVolumeClaim" {
		f.fields["pvc"] = name
	}
	if kind == "PersistentVolume" {
		f.fields["pv"] = strings.TrimPrefix(name, "default/")
	}
	s.fact(&f)
	s.unscheduled(l, name)
}

func noPairs() map[string]string { return nil }

var status = lazyregexp.New(`(?s)^(.*?)rpc error: code = (\w+) desc = (.*)$`)

// meaningOf returns the meaning of an Event by its reason.
func meaningOf(l *trace.Line) (messages.Meaning, map[string]string) {
	fields := map[string]string{"error": l.Msg}
	if found := status().FindStringSubmatch(l.Msg); found != nil {
		fields["code"], fields["error"] = found[2], found[3]
	}
	switch l.M {
	case "ProvisioningFailed":
		return messages.ProvisionFailed, fields
	case "ProvisioningSucceeded":
		return messages.Provisioned, fields
	case "VolumeFailedDelete":
		return messages.DeleteFailed, fields
	case "VolumeResizeFailed":
		return messages.ResizeFailed, fields
	case "FailedMount", "FailedMapVolume":
		return messages.VolumesAwaited, fields
	case "FailedAttachVolume":
		return messages.AttachFailed, fields
	case "SnapshotCreationFailed":
		return messages.SnapshotFailed, fields
	}
	return messages.None, fields
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
