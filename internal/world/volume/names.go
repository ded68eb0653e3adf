// Package volume has the conventions about CSI volumes that the kubelet and the controllers share:
// names, access modes, and whether a volume is attached before use.
package volume

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Plugin is the name of the in-process volume plugin for CSI.
const Plugin = "kubernetes.io/csi"

// UniqueName identifies a CSI volume in node.status.volumesInUse and
// volumesAttached. K-PATH-8, C-GEN-12
func UniqueName(driver, handle string) string {
	return Plugin + "/" + driver + "^" + handle
}

// SplitUniqueName is the inverse of UniqueName. C-GEN-12
func SplitUniqueName(name string) (driver, handle string, ok bool) {
	rest, ok := strings.CutPrefix(name, Plugin+"/")
	if !ok {
		return "", "", false
	}
	driver, handle, ok = strings.Cut(rest, "^")
	return driver, handle, ok && !strings.Contains(handle, "^")
}

// UniqueInlineName identifies an inline CSI volume of a pod. K-PATH-8
func UniqueInlineName(pod types.UID, volumeName string) string {
	return Plugin + "/" + string(pod) + "-" + volumeName
}

// MetricsName returns the name of the CSI volume plugin in Kubernetes' metrics. It contains the
// driver, if the driver is known.
func MetricsName(driver string) string {
	if driver == "" {
		return Plugin
	}
	return Plugin + ":" + driver
}

// AttachmentName returns the name of the VolumeAttachment of a volume on a node. K-PATH-6, C-CSIP-1
func AttachmentName(handle, driver, node string) string {
	return hash("csi-", handle, driver, node)
}

// InlineHandle returns the volume id of an inline CSI volume. K-PATH-7
func InlineHandle(pod types.UID, volumeName string) string {
	return hash("csi-", string(pod), volumeName)
}

// IsInlineHandle reports whether a volume id has the form of an inline volume's id. Drivers without
// podInfoOnMount recognize inline volumes only by this form. K-PATH-7
func IsInlineHandle(id string) bool {
	digest, ok := strings.CutPrefix(id, "csi-")
	sum, err := hex.DecodeString(digest)
	return ok && err == nil && len(sum) == sha256.Size && strings.ToLower(digest) == digest
}

// HandleHash returns the directory name of a volume's staging directory. K-PATH-3
func HandleHash(handle string) string { return hash("", handle) }

// hash returns the prefix with the digest of the concatenated parts.
func hash(prefix string, parts ...string) string {
	text := make([]byte, 0, 256)
	for _, part := range parts {
		text = append(text, part...)
	}
	sum := sha256.Sum256(text)
	return string(hex.AppendEncode(append(text[:0], prefix...), sum[:]))
}

// NodeIDAnnotation is csi-attacher's annotation of a VolumeAttachment with the node's id in the
// driver.
const NodeIDAnnotation = "csi.alpha.kubernetes.io/node-id"
