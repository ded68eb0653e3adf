package view

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/excerpt"
	"github.com/csisim/csisim/internal/world/trace"
)

// headline turns a verdict into a sentence for first-time readers. It uses the event that shows the
// verdict, or otherwise the verdict with short ids and paths.
func (x *reading) headline(f Finding) string {
	at := x.story.find(f.About)
	if at >= 0 {
		if text := x.ineffective(x.story.parts[at]); text != "" {
			return text
		}
	}
	for _, text := range []string{x.waited(f.Judged, at), x.stayed(f.Judged)} {
		if text != "" {
			return text
		}
	}
	first, _, _ := strings.Cut(f.Verdict, "\n")
	return excerpt.Paths(x.narrator.Short(first))
}

// waited returns the sentence for a wait that timed out, with the failing call that explains it, if
// there is one.
func (x *reading) waited(v verdict.Verdict, at int) string {
	if !v.Is(verdict.Progress) || len(v.Found) < 2 {
		return ""
	}
	long, err := time.ParseDuration(v.Found[1])
	if err != nil {
		return ""
	}
	why := ""
	if at >= 0 {
		why = x.failing(x.story.parts[x.story.culprit(at)])
	}
	return excerpt.Paths(x.narrator.Short(fmt.Sprintf("Timed out waiting %s for %s%s", trace.Span(long), v.Found[0], why)))
}

// failing describes a failing call and its place; empty for any other event.
func (x *reading) failing(call part) string {
	if call.kind != trace.Call || !call.failed {
		return ""
	}
	who, where := "the driver", ""
	if call.injected {
		who = "a fault"
	}
	if call.node != "" {
		where = " on " + call.node
	}
	first, _, _ := strings.Cut(call.text, "\n")
	return fmt.Sprintf(": %s fails %s%s: %s", who, call.method, where, first)
}

// stayed returns the sentence for a leftover of a call.
func (x *reading) stayed(v verdict.Verdict) string {
	if !v.Is(verdict.LeftBehind) || v.Kind == "" || v.Node == "" || v.Method == "" || v.Undo == "" || v.Code != "" || !strings.HasPrefix(v.Found[0], "/") {
		return ""
	}
	more := ""
	if v.More > 0 {
		more = fmt.Sprintf(" (and %d more)", v.More)
	}
	return fmt.Sprintf("%s answered OK, but the %s that %s made is still there on %s: %s%s",
		v.Undo, v.Kind, path.Base(v.Method), v.Node, excerpt.Paths(x.narrator.Short(v.Found[0])), more)
}

// undone are the calls that must unmount, with the names of their paths.
var undone = map[string]string{"NodeUnpublishVolume": "target path", "NodeUnstageVolume": "staging path"}

func (t part) isIneffective() bool {
	return t.judged != nil && t.judged.Form == contract.NoEffect && undone[t.method] != "" && len(t.judged.Found) > 0
}

// ineffective returns the sentence for a call that answered OK without unmounting.
func (x *reading) ineffective(t part) string {
	if !t.isIneffective() {
		return ""
	}
	return fmt.Sprintf("The driver answered OK to %s, but the volume %sis still mounted at the %s on %s.", t.method, x.volumeWords(t), undone[t.method], t.node)
}

// contrast returns the required and the found state after a call that answered OK without
// unmounting; empty for other events.
func (x *reading) contrast(about uint64) (should, found string) {
	at := x.story.find(about)
	if at < 0 || !x.story.parts[at].isIneffective() {
		return "", ""
	}
	t := x.story.parts[at]
	mounts, last := "1 mount is", t.judged.Found[len(t.judged.Found)-1]
	if n := len(t.judged.Found); n > 1 {
		mounts = fmt.Sprintf("%d mounts are", n)
	}
	should = fmt.Sprintf("Once %s has answered OK, nothing is mounted at the %s any more.", t.method, undone[t.method])
	return should, fmt.Sprintf("%s still there after the OK: %s", mounts, excerpt.Paths(x.narrator.Short(last)))
}

// volumeWords returns the known names of an event's volume and its pod.
func (x *reading) volumeWords(t part) string {
	at := x.story.culprit(x.story.find(t.seq))
	text := ""
	if place := x.story.parts[at].volume; place > 0 {
		text = x.volumes.all[place-1].Label + " "
	}
	if pod := x.volumes.pod(x.story.parts[at].path); pod != "" {
		text += "of pod " + strings.TrimPrefix(pod, "default/") + " "
	}
	return text
}
