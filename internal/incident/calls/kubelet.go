package calls

import (
	"cmp"
	"strings"

	"github.com/csisim/csisim/internal/incident/lines"
	"github.com/csisim/csisim/internal/incident/messages"
)

// The kubelet prints the volume and the path of a call, and no more of its request. Its success is
// a line with the path, and its failure that of the operation.

// partOf returns the printed part of a request.
func partOf(m *method, f messages.Fields) map[string]any {
	request := map[string]any{"volume_id": f["volume"]}
	if path := f["path"]; path != "" {
		request[pathField(m.name)] = path
	}
	return request
}

// pathField is the field of a request with the path that a call is about.
func pathField(name string) string {
	if strings.HasSuffix(name, "StageVolume") || strings.HasSuffix(name, "UnstageVolume") {
		return "staging_target_path"
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
}

// Operation ends the calls of an operation of the kubelet that has succeeded or failed.
func (t *Tracker) Operation(r *lines.Record, f messages.Fact) (done []*Call) {
	m := methodNamed(operations[f.Means.Operation()])
	isFailed := strings.HasSuffix(string(f.Means), " failed")
	if m == nil || !isFailed && !strings.HasSuffix(string(f.Means), " succeeded") {
		return nil
	}
	c := t.pick(t.open, func(c *Call) bool { return c.method == m && c.Request["volume_id"] == f.Fields["volume"] })
	if c == nil {
		return nil
	}
	c.close(r)
	c.Answer = map[string]any{}
	if isFailed {
		c.failed(f)
	}
	return []*Call{c}
}

// failed adds the error of an operation.
func (c *Call) failed(f messages.Fact) {
	c.Answer, c.Code, c.Error = nil, cmp.Or(f.Fields["code"], "Unknown"), f.Fields["error"]
}

// Refusal ends the call that a driver's message names, as that of mayastor's controller does.
func (t *Tracker) Refusal(r *lines.Record, f messages.Fact) (done []*Call) {
	m := methodNamed(rpcIn(f))
	if m == nil {
		return nil
	}
	fits := func(c *Call) bool { return c.method == m && (c.Request == nil || c.Request["volume_id"] == f.Fields["volume"]) }
	c := t.pick(t.open, fits)
	if c == nil {
		return nil
	}
	c.close(r)
	c.failed(f)
	return []*Call{c}
}
