package calls

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/world/trace"
)

// Sequence lists the CSI calls of a trace, one per line: virtual time, caller, node, method,
// volume, important fields of the request, result. It omits calls that only request capabilities.
// Equal runs have equal lists, even with drivers that choose new ids each time.
func Sequence(events []*trace.Event) string {
	names := NewNames()
	for _, e := range events {
		names.Learn(e)
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, e := range events {
		if e.Kind == trace.Call && !asking[Short(e.Method)] {
			fmt.Fprintln(table, strings.Join(names.columns(e), "\t"))
		}
	}
	table.Flush()
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// Line returns one call of the sequence.
func (n *Names) Line(e *trace.Event) string {
	columns := n.columns(e)
	kept := columns[:0]
	for _, column := range columns {
		if column != "" && column != "-" {
			kept = append(kept, strings.TrimSpace(column))
		}
	}
	return strings.Join(kept, "  ")
}

func (n *Names) columns(e *trace.Event) []string {
	return []string{
		fmt.Sprintf("%10.3fs", e.At.Seconds()), orDash(e.Actor), orDash(n.Node(e)), Short(e.Method),
		orDash(n.Volume(e)), outcome(e), strings.Join(n.details(e), " "),
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// outcome returns the result, the duration, and the effect of a fault.
func outcome(e *trace.Event) string {
	text := Result(e)
	if e.Took > 0 {
		text += " after " + e.Took.Round(time.Millisecond).String()
	}
	if e.Injected != "" {
		text += " (fault)"
	}
	return text
}

// details returns the important fields of a request.
func (n *Names) details(e *trace.Event) []string {
	var found []string
	if pod := n.Pod(e); pod != "" {
		found = append(found, "pod="+pod)
	}
	if limits, ok := e.Request.(interface{ GetCapacityRange() *csi.CapacityRange }); ok {
		if required := limits.GetCapacityRange().GetRequiredBytes(); required > 0 {
			found = append(found, fmt.Sprintf("bytes=%d", required))
		}
	}
	found = append(found, capabilities(e.Request)...)
	if r, ok := e.Request.(interface{ GetReadonly() bool }); ok && r.GetReadonly() {
		found = append(found, "readonly")
	}
	switch request := e.Request.(type) {
	case *csi.CreateVolumeRequest:
		found = append(found, n.source(request)...)
	case *csi.CreateVolumeGroupSnapshotRequest:
		found = append(found, "of="+n.all(request.GetSourceVolumeIds(), n.alias))
	case *csi.DeleteVolumeGroupSnapshotRequest:
		found = append(found, "of="+n.all(request.GetSnapshotIds(), n.snapshot))
	}
	return found
}

// all returns the names of volumes or snapshots.
func (n *Names) all(ids []string, name func(string) string) string {
	var names []string
	for _, id := range ids {
		names = append(names, name(id))
	}
	return strings.Join(names, ",")
}

func (n *Names) snapshot(id string) string { return n.snapshots[id] }

func (n *Names) alias(id string) string {
	if known := n.byID[id]; known != nil {
		return known.alias
	}
	return "?"
}

func (n *Names) source(create *csi.CreateVolumeRequest) []string {
	switch source := create.GetVolumeContentSource(); {
	case source.GetVolume() != nil:
		if known := n.byID[source.GetVolume().GetVolumeId()]; known != nil {
			return []string{"from=" + known.alias}
		}
	case source.GetSnapshot() != nil:
		return []string{"from=" + n.snapshots[source.GetSnapshot().GetSnapshotId()]}
	}
	return nil
}

// capabilities returns the requested access modes and types.
func capabilities(request proto.Message) []string {
	var all []*csi.VolumeCapability
	switch r := request.(type) {
	case interface{ GetVolumeCapability() *csi.VolumeCapability }:
		if one := r.GetVolumeCapability(); one != nil {
			all = append(all, one)
		}
	case interface {
		GetVolumeCapabilities() []*csi.VolumeCapability
	}:
		all = r.GetVolumeCapabilities()
	}
	var found []string
	for _, c := range all {
		text := c.GetAccessMode().GetMode().String()
		if c.GetBlock() != nil {
			text += " block"
		}
		if fs := c.GetMount().GetFsType(); fs != "" {
			text += " " + fs
		}
		if flags := c.GetMount().GetMountFlags(); len(flags) > 0 {
			text += " " + strings.Join(flags, ",")
		}
		found = append(found, text)
	}
	return found
}
