package trace

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// call describes a CSI call: → method, the call's object, and the driver's answer.
func (t *narrator) call(shown *entry, line Line) {
	method := path.Base(line.M)
	shown.text = strings.TrimSpace("→ " + method + " " + t.request(method, line.Req))
	t.called(line.Driver)
	if line.Driver != t.driver {
		shown.text += " on " + t.names.driver(line.Driver)
	}
	if line.Release != "" {
		shown.text += " (" + line.Release + ")"
	}
	if t.verbose {
		shown.text += " " + compact(line.Req)
	}
	t.outcome(shown, method, line)
}

func (t *narrator) called(driver string) {
	if t.driver == "" {
		t.driver = driver
	}
}

func (t *narrator) outcome(shown *entry, method string, line Line) {
	after := ""
	if line.Ms > 0 {
		after = " after " + Span(time.Duration(line.Ms)*time.Millisecond)
	}
	if line.Code != "" {
		shown.fail(line.Code + after + ": " + t.names.in(line.Msg))
	} else {
		shown.outcome = t.answer(method, line.Resp) + after
		if t.verbose {
			shown.outcome += " " + compact(line.Resp)
		}
	}
	if line.Inj != "" {
		shown.outcome += strings.Replace(" (FAULT: "+line.Inj+")", ": code "+line.Code+")", ")", 1)
	}
	shown.foldAs(method)
}

// fields are the content of a request or an answer.
type fields map[string]any

func (f fields) text(name string) string {
	s, _ := f[name].(string)
	return s
}

func (f fields) inner(name string) fields {
	m, _ := f[name].(map[string]any)
	return m
}

// request describes the object of a call: the volume, the path, the size.
func (t *narrator) request(method string, content fields) string {
	var words []string
	add := func(word, value string) {
		if value != "" {
			words = append(words, strings.TrimSpace(word+" "+value))
		}
	}
	add("", t.names.in(content.text("name")))
	add("", t.names.in(content.text("volume_id")))
	add("of", t.names.in(content.text("source_volume_id")))
	add("of", t.names.in(strings.Join(texts(content["source_volume_ids"]), ", ")))
	add("", content.text("group_snapshot_id"))
	add("", t.names.in(content.text("snapshot_id")))
	add(sizeWord[method], bytesOf(content.inner("capacity_range")))
	add("", accessMode(content))
	add("from", t.names.in(source(content.inner("volume_content_source"))))
	add(nodeWord[method], content.text("node_id"))
	where := content.text("target_path")
	if where == "" {
		where = content.text("staging_target_path")
	}
	if where == "" {
		where = content.text("volume_path")
	}
	add("for pod", t.names.key(t.names.podOf(where)))
	if where != "" {
		add("at", t.names.mountPoint(where))
	}
	if content["readonly"] == true {
		add("", "read-only")
	}
	if changes := content.inner("mutable_parameters"); len(changes) > 0 {
		add("with", compact(map[string]any(changes)))
	}
	return strings.Join(words, " ")
}

var (
	sizeWord = map[string]string{"ControllerExpandVolume": "to", "NodeExpandVolume": "to"}
	nodeWord = map[string]string{"ControllerPublishVolume": "to", "ControllerUnpublishVolume": "from"}
)

// accessMode returns the access mode of the capability, or of the first one if there are several.
// It is shown for the creation and attachment of a volume, because later calls repeat it.
func accessMode(content fields) string {
	capabilities := maps(content["volume_capabilities"])
	if len(capabilities) == 0 {
		return ""
	}
	mode := fields(capabilities[0]).inner("access_mode").text("mode")
	if _, block := capabilities[0]["block"]; block {
		mode += " block"
	}
	return mode
}

// texts returns the strings of a list.
func texts(list any) []string {
	if all, ok := list.([]string); ok {
		return all
	}
	var found []string
	all, _ := list.([]any)
	for _, item := range all {
		if text, ok := item.(string); ok {
			found = append(found, text)
		}
	}
	return found
}

func source(content fields) string {
	if id := content.inner("snapshot").text("snapshot_id"); id != "" {
		return "snapshot " + id
	}
	if id := content.inner("volume").text("volume_id"); id != "" {
		return "volume " + id
	}
	return ""
}

// bytesOf returns the requested size of a capacity range.
func bytesOf(capacity fields) string {
	if text := capacity.text("required_bytes"); text != "" {
		return size(text)
	}
	if text := capacity.text("limit_bytes"); text != "" {
		return "at most " + size(text)
	}
	return ""
}

func size(bytes string) string {
	n, err := strconv.ParseInt(bytes, 10, 64)
	if err != nil {
		return bytes
	}
	return resource.NewQuantity(n, resource.BinarySI).String()
}

// answer describes the result for the caller: "= vol-1", or OK if there is nothing more.
func (t *narrator) answer(method string, content fields) string {
	switch method {
	case "CreateVolume":
		return "= " + t.names.in(content.inner("volume").text("volume_id"))
	case "CreateSnapshot":
		made := content.inner("snapshot")
		if made["ready_to_use"] == true {
			return "= " + t.names.in(made.text("snapshot_id"))
		}
		return "= " + t.names.in(made.text("snapshot_id")) + ", not ready yet"
	case "CreateVolumeGroupSnapshot", "GetVolumeGroupSnapshot":
		made := content.inner("group_snapshot")
		text := fmt.Sprintf("= %s with %d snapshots", made.text("group_snapshot_id"), len(maps(made["snapshots"])))
		if made["ready_to_use"] != true {
			text += ", not ready yet"
		}
		return text
	case "ControllerExpandVolume":
		text := "= " + size(cmp.Or(content.text("capacity_bytes"), "0"))
		if content["node_expansion_required"] == true {
			text += ", the node must expand, too"
		}
		return text
	case "GetCapacity":
		return "= " + size(cmp.Or(content.text("available_capacity"), "0"))
	case "ListVolumes", "ListSnapshots":
		list, _ := content["entries"].([]any)
		return fmt.Sprintf("= %d", len(list))
	case "NodeGetInfo":
		return t.nodeInfo(content)
	case "GetPluginInfo":
		return "= " + strings.TrimSpace(content.text("name")+" "+content.text("vendor_version"))
	case "ValidateVolumeCapabilities":
		if len(content.inner("confirmed")) == 0 {
			return "= not confirmed"
		}
		return "= confirmed"
	default:
		return "OK"
	}
}

func (t *narrator) nodeInfo(content fields) string {
	text := "= " + content.text("node_id")
	if limit := content.text("max_volumes_per_node"); limit != "" {
		text += ", at most " + limit + " volumes"
	}
	segments := content.inner("accessible_topology").inner("segments")
	var places []string
	for key, value := range segments {
		places = append(places, fmt.Sprintf("%s=%v", key, value))
	}
	slices.Sort(places)
	if len(places) > 0 {
		text += ", " + strings.Join(places, " ")
	}
	return text
}
