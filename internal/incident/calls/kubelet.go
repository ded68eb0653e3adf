package calls

import (
	"cmp"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/incident/lines"
	"github.com/csisim/csisim/internal/incident/messages"
)

// The kubelet prints only the volume and the path of a call's request. On success it prints a line
// with the path; on failure, the error of the operation.

// partOf returns the printed part of a request.
func partOf(m *method, f messages.Fields) map[string]any {
	request := map[string]any{}
	if volume := f["volume"]; volume != "" {
		request["volume_id"] = volume
	}
	if path := f["path"]; path != "" {
		request[pathField(m.name)] = path
	}
	return request
}

// pathField returns the field of a request with the path that a call is about.
func pathField(name string) string {
	switch {
	case strings.HasSuffix(name, "StageVolume"), strings.HasSuffix(name, "UnstageVolume"):
		return "staging_target_path"
	case strings.HasSuffix(name, "NodeExpandVolume"), strings.HasSuffix(name, "NodeGetVolumeStats"):
		return "volume_path"
	}
	return "target_path"
}

func (c *Call) path() string {
	path, _ := c.Request[pathField(c.Method)].(string)
	return path
}

// operations are the calls of the kubelet's operations.
var operations = map[string]string{
	"stage": "NodeStageVolume", "publish": "NodePublishVolume", "unpublish": "NodeUnpublishVolume", "unstage": "NodeUnstageVolume",
	"node resize": "NodeExpandVolume",
}

// expander is the file of the kubelet that prints an expansion, which may need no call.
const expander = "expander.go"

// Operation ends the calls of a kubelet operation that has succeeded or failed.
func (t *Tracker) Operation(r *lines.Record, f messages.Fact) (done []*Call) {
	if f.Means == messages.RegisterFailed {
		return t.failUnseen(f)
	}
	m := methodNamed(operations[f.Means.Operation()])
	isFailed := strings.HasSuffix(string(f.Means), " failed")
	if m == nil || !isFailed && !strings.HasSuffix(string(f.Means), " succeeded") {
		return nil
	}
	fits := func(c *Call) bool { return c.method == m && c.isOf(f.Fields) }
	t.open = slices.DeleteFunc(t.open, func(c *Call) bool { return fits(c) && t.isOnlyPlanned(c) })
	c := t.pick(t.open, fits)
	switch {
	case c == nil && isFailed && t.latest(func(c *Call) bool { return c.method == m }) == nil:
		return t.failUnseen(f)
	case c == nil:
		return nil
	}
	if c.Request["volume_id"] == nil { // the line of an expansion contains only its path
		c.Request["volume_id"] = f.Fields["volume"]
	}
	c.close(r)
	c.Answer = map[string]any{}
	if isFailed {
		c.failed(f)
	}
	done, t.closing = t.closing, nil // the operation has completed them
	return append(done, c)
}

// isOf reports whether a call of the kubelet belongs to an operation: it must be for the
// operation's volume and, if it is for a pod, for its pod.
func (c *Call) isOf(f messages.Fields) bool {
	if volume, known := c.Request["volume_id"]; known && volume != f["volume"] {
		return false
	}
	_, ofPod, isForPod := strings.Cut(c.path(), "/pods/")
	return !isForPod || f["podUID"] == "" || strings.HasPrefix(ofPod, f["podUID"]+"/")
}

// failed adds the error of an operation.
func (c *Call) failed(f messages.Fact) {
	c.Answer, c.Code, c.Error = nil, cmp.Or(f.Fields["code"], "Unknown"), f.Fields["error"]
}

// Refusal ends the call that a driver's message names, for instance a message of mayastor's
// controller.
func (t *Tracker) Refusal(r *lines.Record, f messages.Fact) (done []*Call) {
	m := methodNamed(rpcIn(f))
	if m == nil {
		return nil
	}
	fits := func(c *Call) bool {
		return c.method == m && (c.Request == nil || c.Request["volume_id"] == f.Fields["volume"])
	}
	c := t.pick(t.open, fits)
	if c == nil {
		return nil
	}
	c.close(r)
	c.failed(f)
	return []*Call{c}
}
