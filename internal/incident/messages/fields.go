package messages

import (
	"encoding/json"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// Fields are the parts of a message by their names: volume (the handle), pv, pvc, pod, podUID,
// node, driver, path, attachment, snapshot, group, method, request, response, error, code, tried,
// id, until and backoff.
type Fields map[string]string

// aliases are the names of pairs in the logs of Kubernetes and of drivers.
var aliases = map[string]string{
	"volumeName": "unique", "volumeNames": "unique", "UniqueName": "unique", "volume": "volume", "volID": "volume", "volumeID": "volume", "volumeId": "volume", "volume.uuid": "volume", "VolumeID": "volume",
	"volumeHandle": "volume", "PV": "pv", "PVName": "pv", "PersistentVolume": "pv", "volumeSpecName": "pv", "pvName": "pv",
	"PVC": "pvc", "pvc": "pvc", "claim": "pvc", "pod": "pod", "podUID": "podUID", "podName": "podUID", "node": "node", "nodeName": "node", "NodeName": "node",
	"nodeID": "nodeID", "VolumeAttachment": "attachment", "driver": "driver", "csiDriverName": "driver", "pluginName": "driver",
	"targetPath": "path", "stagingTargetPath": "path", "path": "path", "deviceMountPath": "path", "err": "error", "error": "error",
	"method": "method", "request": "request", "req": "request", "args": "request", "response": "response", "resp": "response", "TraceId": "id", "leader": "leader",
	"phase": "phase", "attachedTo": "attachedTo", "status": "status", "key": "key", "failures": "failures",
}

// set sets a field by the name in the message.
func (f Fields) set(name, value string) {
	if name == "" {
		return
	}
	known, ok := aliases[name]
	if !ok {
		known = name
	}
	switch known {
	case "unique":
		f.unique(value)
	case "error":
		f.failure(value)
	case "operation":
		f.pending(value)
	case "claimUID": // by which csi-provisioner names the volume
		f["pv"] = "pvc-" + value
	case "v", "ts", "time", "timestamp", "level", "msg", "message", "caller", "logger", "source", "service":
	case "pod":
		value = strings.Trim(value, `"`)
		if value != "" && !strings.HasSuffix(f[known], "/"+value) { // the text has no namespace
			f[known] = value
		}
	case "request", "response", "inner", "call":
		f[known] = value
	case "volume":
		if strings.HasPrefix(value, "{") {
			f.structure(value)
			return
		}
		f[known] = value
	default:
		if value != "" && value != "<nil>" {
			f[known] = strings.Trim(value, `"`)
		}
	}
}

// unique splits the unique name of a volume: kubernetes.io/csi/driver^handle.
func (f Fields) unique(name string) {
	rest, isCSI := strings.CutPrefix(strings.Trim(name, `"`), "kubernetes.io/csi/")
	driver, handle, ok := strings.Cut(rest, "^")
	if isCSI && ok {
		f["driver"], f["volume"] = driver, handle
		return
	}
	f["unique"] = rest
}

var (
	status  = lazyregexp.New(`(?s)rpc error: code = (\w+) desc = (.*)$`)
	pending = lazyregexp.New(`volumeName:(\S+?) podName:(\S*) nodeName:(\S*)}`)
)

// failure splits an error of gRPC.
func (f Fields) failure(text string) {
	text = strings.TrimSpace(text)
	if text == "" || text == "<nil>" || text == "null" {
		return
	}
	f["error"] = text
	// csi-attacher has the same message for attachments and detachments.
	if strings.HasPrefix(text, "failed to detach") {
		f["tried"] = "detach"
	}
	if strings.HasPrefix(text, `{"name":"GrpcError"`) { // of democratic-csi
		f.object(text)
		return
	}
	if found := status().FindStringSubmatch(text); found != nil {
		f["code"], f["error"] = found[1], found[2]
	}
}

var (
	structName = lazyregexp.New(`VolumeName"?:"?([^"\s},]+)`)
	structNode = lazyregexp.New(`NodeName"?:"?([^"\s},]+)`)
)

// structure takes the names out of the structure that kube-controller-manager prints for a volume.
func (f Fields) structure(text string) {
	if found := structName().FindStringSubmatch(text); found != nil {
		f.unique(found[1])
	}
	if found := structNode().FindStringSubmatch(text); found != nil {
		f["node"] = found[1]
	}
}

// object reads an error in JSON.
func (f Fields) object(text string) {
	var e struct {
		Code    uint32
		Message string
	}
	if json.Unmarshal([]byte(text), &e) == nil {
		f["code"], f["error"] = codes.Code(e.Code).String(), e.Message
	}
}

// pending splits the name of an operation of the kubelet or kube-controller-manager.
func (f Fields) pending(operation string) {
	found := pending().FindStringSubmatch(operation)
	if found == nil {
		f["operation"] = operation
		return
	}
	f.unique(found[1])
	if found[2] != "" {
		f["podUID"] = found[2]
	}
	if found[3] != "" {
		f["node"] = found[3]
	}
}

// plain returns a message without the words that programs print before it.
func (f Fields) plain(message string) string {
	message = f.withoutIDs(message)
	for _, prefix := range prefixes {
		message = strings.TrimPrefix(message, prefix)
	}
	return message
}

// withoutIDs removes the ids that ceph-csi and cloud-provider-openstack put before messages.
func (f Fields) withoutIDs(message string) string {
	if rest, ok := strings.CutPrefix(message, "[ID:"); ok {
		if id, rest, ok := strings.Cut(rest, "] "); ok {
			f["id"] = id
			return rest
		}
	}
	rest, ok := strings.CutPrefix(message, "ID: ")
	id, rest, more := strings.Cut(rest, " ")
	if !ok || !more {
		return message
	}
	f["id"] = id
	if of, ok := strings.CutPrefix(rest, "Req-ID: "); ok {
		_, rest, _ = strings.Cut(of, " ")
	}
	return rest
}
