package trace

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// changeWords describe the changes of a resource.
var changeWords = map[string]func(*change){
	"persistentvolumeclaims": claimWords,
	"persistentvolumes":      volumeWords,
	"pods":                   podWords,
	"volumeattachments":      attachmentWords,
	"nodes":                  nodeWords,
	"csinodes":               csiNodeWords,
	"volumesnapshots":        snapshotWords,
	"volumesnapshotcontents": snapshotWords,
}

func (c *change) deletion() {
	if _, changed := c.take("metadata", "deletionTimestamp"); !changed {
		return
	}
	grace, _ := c.take("metadata", "deletionGracePeriodSeconds")
	switch {
	case c.was("metadata", "deletionTimestamp") != nil:
		c.say("grace period over")
	case grace == nil || grace == 0.0:
		c.say("deletion began")
	default:
		c.say("deletion began, grace period %v s", grace)
	}
}

func (c *change) finalizers() {
	if after, changed := c.take("metadata", "finalizers"); changed {
		c.lists("finalizer", after, c.was("metadata", "finalizers"), plainName)
	}
}

func plainName(item any) string { return fmt.Sprint(item) }

// keyed describes annotations and labels by the last part of their keys. The beta variant of an
// annotation has the same text.
func (c *change) keyed(what, field string) {
	changed := c.within("metadata", field)
	var shown []string
	for _, key := range sortedKeys(changed) {
		text := path.Base(key) + " " + c.names.in(c.short(changed[key]))
		if changed[key] == nil {
			text = "−" + path.Base(key)
		}
		if !slices.Contains(shown, text) {
			shown = append(shown, text)
		}
	}
	clear(changed)
	if len(shown) > 0 {
		c.say("%s: %s", what, strings.Join(shown, ", "))
	}
}

func (c *change) phase() {
	if phase, changed := c.take("status", "phase"); changed {
		c.say("phase %v", phase)
	}
}

func claimWords(c *change) {
	if volume, changed := c.take("spec", "volumeName"); changed && volume != nil {
		c.take("metadata", "annotations", "pv.kubernetes.io/bind-completed")
		c.take("metadata", "annotations", "pv.kubernetes.io/bound-by-controller")
		c.say("bound to pv/%s", c.names.in(fmt.Sprint(volume)))
	}
	if wanted, changed := c.take("spec", "resources", "requests", "storage"); changed {
		c.say("asks for %v", wanted)
	}
	c.phase()
	c.take("status", "accessModes")
	if capacity, changed := c.take("status", "capacity", "storage"); changed && capacity != nil {
		c.say("capacity %v", capacity)
	}
	c.conditions()
}

func volumeWords(c *change) {
	if name, changed := c.take("spec", "claimRef", "name"); changed && name != nil {
		namespace, _ := c.take("spec", "claimRef", "namespace")
		for _, field := range []string{"apiVersion", "kind", "uid", "resourceVersion"} {
			c.take("spec", "claimRef", field)
		}
		c.say("reserved for pvc/%s", c.names.key(fmt.Sprintf("%v/%v", namespace, name)))
	}
	c.take("spec", "claimRef", "resourceVersion")
	if capacity, changed := c.take("spec", "capacity", "storage"); changed {
		c.say("capacity %v", capacity)
	}
	c.phase()
}

func podWords(c *change) {
	if node, changed := c.take("spec", "nodeName"); changed {
		c.say("scheduled to %v", node)
		c.take("status", "conditions", "PodScheduled")
	}
	c.phase()
	if state, changed := c.take("status", "container"); changed {
		c.say("container %v", state)
	}
	if n, changed := c.take("status", "restarts"); changed {
		c.say("restarts: %v", n)
	}
	for _, echo := range []string{"ContainersReady", "Initialized", "PodReadyToStartContainers"} {
		c.take("status", "conditions", echo) // of Ready
	}
	if ready, changed := c.take("status", "conditions", "Ready"); changed && ready == "True" {
		c.say("ready")
	} else if changed && c.was("status", "conditions", "Ready") == "True" {
		c.say("not ready any more")
	}
	c.conditions()
}

// conditions describes each condition as "type status reason: message". Conditions of pods are
// already folded, and conditions of other objects are a list.
func (c *change) conditions() {
	changed := c.within("status", "conditions")
	if changed == nil {
		list, _ := c.take("status", "conditions")
		changed = foldConditions(list)
	}
	for _, name := range sortedKeys(changed) {
		c.say("%s %v", name, changed[name])
	}
	clear(changed)
}

func attachmentWords(c *change) {
	if attached, changed := c.take("status", "attached"); changed {
		if attached == true {
			c.say("attached")
			if published := c.within("status", "attachmentMetadata"); len(published) > 0 {
				c.say("publish context %s", c.names.in(c.short(published)))
				clear(published)
			}
		} else {
			c.say("not attached")
		}
	}
	for _, what := range []string{"attach", "detach"} {
		c.take("status", what+"Error", "time")
		if message, changed := c.take("status", what+"Error", "message"); changed && message != nil {
			c.say("✗ %s failed: %s", what, c.names.in(fmt.Sprint(message)))
		}
	}
}

func nodeWords(c *change) {
	if after, changed := c.take("status", "volumesInUse"); changed {
		c.lists("volumesInUse", after, c.was("status", "volumesInUse"), func(item any) string { return c.names.volume(fmt.Sprint(item)) })
	}
	if after, changed := c.take("status", "volumesAttached"); changed {
		c.lists("volumesAttached", after, c.was("status", "volumesAttached"), func(item any) string {
			volume, _ := item.(map[string]any)
			return c.names.volume(fmt.Sprint(volume["name"]))
		})
	}
	if after, changed := c.take("spec", "taints"); changed {
		c.lists("taint", after, c.was("spec", "taints"), func(item any) string {
			taint, _ := item.(map[string]any)
			return fmt.Sprintf("%v:%v", taint["key"], taint["effect"])
		})
	}
	if ready, changed := c.take("status", "Ready"); changed {
		c.say("Ready %v", ready)
	}
}

func csiNodeWords(c *change) {
	after, changed := c.take("spec", "drivers")
	if !changed {
		return
	}
	c.lists("driver", after, c.was("spec", "drivers"), func(item any) string {
		driver, _ := item.(map[string]any)
		text := fmt.Sprintf("%v, node id %v", driver["name"], driver["nodeID"])
		if limit := at(driver, "allocatable", "count"); limit != nil {
			text += fmt.Sprintf(", at most %v volumes", limit)
		}
		return text
	})
}

func snapshotWords(c *change) {
	was := c.was("status", "readyToUse")
	switch ready, changed := c.take("status", "readyToUse"); {
	case changed && ready == true:
		c.say("ready to use")
	case changed && was == true:
		c.say("ready to use no more")
	}
	if message, changed := c.take("status", "error", "message"); changed && message != nil {
		c.take("status", "error", "time")
		c.say("✗ %s", c.names.in(fmt.Sprint(message)))
	}
	if content, changed := c.take("status", "boundVolumeSnapshotContentName"); changed && content != nil {
		c.say("bound to snapshotcontent/%s", c.names.in(fmt.Sprint(content)))
	}
	if handle, changed := c.take("status", "snapshotHandle"); changed && handle != nil {
		c.say("is %s", c.names.in(fmt.Sprint(handle)))
	}
}
