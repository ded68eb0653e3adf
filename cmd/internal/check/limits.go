package check

import (
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/lazyregexp"
	"github.com/csisim/csisim/internal/world/trace"
)

// BeyondMachine returns the trial, marked as not tried, if this machine caused the failure. It
// returns nil if the driver caused it.
func (t *Trial) BeyondMachine(r *scenario.Result) *Trial {
	if why := beyond(r.Trace, mayResize()); why != "" {
		return t.without(Machine, why)
	}
	return nil
}

// beyond returns the reason if this machine, or the isolation of drivers, caused the failure of a
// trial; "" if the driver caused it.
func beyond(events []*trace.Event, mayResize bool) string {
	for _, e := range events {
		switch {
		case e.Kind != trace.Call || e.Code == "":
		case !mayResize && refusesResize(e.Message):
			return "CAP_SYS_RESOURCE is missing: without it the kernel grows no mounted file system"
		case e.Injected == "" && changesDevices(e):
			return readOnlyDevices
		}
	}
	return ""
}

// refusesResize reports whether an error comes from resize2fs. Where the kernel requires
// CAP_SYS_RESOURCE, it prints "Permission denied to resize filesystem". A driver may answer with
// the name of the error or only with its text.
func refusesResize(message string) bool {
	return strings.Contains(message, "resize2fs") || strings.Contains(message, "Permission denied to resize filesystem")
}

// readOnlyDevices is the reason why a driver cannot change files in /dev.
const readOnlyDevices = "drivers see /dev read-only: --host-path /dev lets them change its files"

// changesDevices reports whether a call failed because the driver changed a file in /dev, or the
// device node that it had published.
func changesDevices(e *trace.Event) bool {
	if inReadOnlyDev(e.Message) {
		return true
	}
	publishes, is := e.Request.(*csi.NodePublishVolumeRequest)
	return is && publishes.GetVolumeCapability().GetBlock() != nil &&
		strings.Contains(strings.ToLower(e.Message), strings.ToLower(publishes.GetTargetPath())+": read-only file system")
}

// inReadOnlyDev reports whether a message is about a file in /dev that cannot be changed.
func inReadOnlyDev(message string) bool { return devIsReadOnly().MatchString(message) }

var devIsReadOnly = lazyregexp.New(`(?i)/dev/[^\s:]+: read-only file system`)
