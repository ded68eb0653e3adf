package trace

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// Pruned returns an object in the form of recorded traces: without fields that only the API server
// uses, without pod boilerplate, and with each condition as one text. The caller may modify the
// map.
func Pruned(resource string, object runtime.Object) (map[string]any, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	fields := map[string]any{}
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	Prune(resource, fields)
	return fields, nil
}

// Prune converts the fields of an object to the form of [Pruned].
func Prune(resource string, fields map[string]any) {
	delete(fields, "apiVersion")
	delete(fields, "kind")
	if meta, ok := fields["metadata"].(map[string]any); ok {
		for _, field := range []string{"resourceVersion", "managedFields", "generation", "selfLink", "namespace"} {
			delete(meta, field)
		}
	}
	switch resource {
	case "pods":
		prunePod(fields)
	case "nodes":
		pruneNode(fields)
	case "secrets":
		redactSecretObject(fields)
	}
	if status, ok := fields["status"].(map[string]any); ok && len(status) == 0 && !optionalStatus[resource] {
		delete(fields, "status")
	}
}

// optionalStatus are the resources with an optional status, for which an empty status has a
// meaning.
var optionalStatus = map[string]bool{
	"volumesnapshots": true, "volumesnapshotcontents": true, "reclaimspacecronjobs": true, "encryptionkeyrotationcronjobs": true,
}

var (
	podSpecKept   = keys("containers", "initContainers", "nodeSelector", "securityContext", "volumes", "nodeName", "affinity", "hostname", "subdomain")
	containerKept = keys("image", "name", "volumeMounts", "volumeDevices", "command", "args")
	volumeDropped = "kube-api-access-"
)

func keys(names ...string) map[string]bool {
	set := map[string]bool{}
	for _, n := range names {
		set[n] = true
	}
	return set
}

func keepOnly(fields map[string]any, kept map[string]bool) {
	for key := range fields {
		if !kept[key] {
			delete(fields, key)
		}
	}
}

func prunePod(pod map[string]any) {
	if spec, ok := pod["spec"].(map[string]any); ok {
		keepOnly(spec, podSpecKept)
		for _, list := range []string{"containers", "initContainers"} {
			for _, c := range maps(spec[list]) {
				keepOnly(c, containerKept)
			}
		}
		var volumes []any
		for _, v := range maps(spec["volumes"]) {
			if name, _ := v["name"].(string); !strings.HasPrefix(name, volumeDropped) {
				volumes = append(volumes, v)
			}
		}
		if volumes == nil {
			delete(spec, "volumes")
		} else {
			spec["volumes"] = volumes
		}
	}
	status, ok := pod["status"].(map[string]any)
	if !ok {
		return
	}
	folded := map[string]any{}
	for _, field := range []string{"phase", "reason", "message"} {
		if v, ok := status[field]; ok {
			folded[field] = v
		}
	}
	if conditions := foldConditions(status["conditions"]); len(conditions) > 0 {
		folded["conditions"] = conditions
	}
	if c := maps(status["containerStatuses"]); len(c) > 0 {
		folded["container"] = containerState(c[0])
		if n := restarts(c); n > 0 {
			folded["restarts"] = n
		}
	}
	pod["status"] = folded
}

func maps(list any) []map[string]any {
	items, _ := list.([]any)
	out := make([]map[string]any, 0, len(items))
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// foldConditions writes each condition as "status reason: message".
func foldConditions(list any) map[string]any {
	folded := map[string]any{}
	for _, c := range maps(list) {
		text := fmt.Sprint(c["status"])
		if reason, _ := c["reason"].(string); reason != "" {
			text += " " + reason
		}
		if message, _ := c["message"].(string); message != "" {
			text += ": " + message
		}
		folded[fmt.Sprint(c["type"])] = text
	}
	return folded
}

// restarts returns how often containers of a pod were restarted.
func restarts(statuses []map[string]any) (n int64) {
	for _, c := range statuses {
		switch count := c["restartCount"].(type) {
		case int64:
			n += count
		case float64:
			n += int64(count)
		}
	}
	return n
}

func containerState(c map[string]any) string {
	state, _ := c["state"].(map[string]any)
	for _, name := range []string{"waiting", "running", "terminated"} {
		detail, ok := state[name].(map[string]any)
		if !ok {
			continue
		}
		reason, _ := detail["reason"].(string)
		if name == "running" || reason == "" || reason == "Completed" {
			return name
		}
		return name + " " + reason
	}
	return ""
}

func pruneNode(node map[string]any) {
	status, ok := node["status"].(map[string]any)
	if !ok {
		return
	}
	kept := map[string]any{}
	for _, field := range []string{"volumesInUse", "volumesAttached", "allocatable"} {
		if v, ok := status[field]; ok {
			kept[field] = v
		}
	}
	for _, c := range maps(status["conditions"]) {
		if c["type"] == "Ready" {
			kept["Ready"] = strings.TrimSpace(fmt.Sprint(c["status"], " ", c["reason"]))
		}
	}
	node["status"] = kept
}
