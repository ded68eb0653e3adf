package check

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
)

// className is the name of the StorageClass of all scenarios.
const className = "checked"

// The two forms of a volume.
const (
	filesystem = "Filesystem"
	block      = "Block"
)

// The access modes.
const (
	oneNodeRW = "ReadWriteOnce"
	onePodRW  = "ReadWriteOncePod"
	manyRO    = "ReadOnlyMany"
	manyRW    = "ReadWriteMany"
)

// claim is a PersistentVolumeClaim.
type claim struct {
	name, form, access string
	from               string // the volume's source in YAML; empty for none
	grouped            bool   // with the label of volumes that are snapshotted together
	larger             bool   // than others
	odd                bool   // its size is not a round number, so most drivers round it up
}

// manifest returns the manifest of the claim and, if the driver makes no volumes, of its volume.
func (c claim) manifest(f *Facts) string {
	mode := ""
	if c.form == block {
		mode = "  volumeMode: Block\n"
	}
	if c.from != "" {
		mode += "  dataSource: " + c.from + "\n"
	}
	if !f.Provisions() {
		return c.static(f, mode)
	}
	size := f.subject.size()
	if c.larger {
		size = f.subject.grown()
	}
	if c.odd {
		size = f.subject.oddSize()
	}
	labels := ""
	if c.grouped {
		labels = ", labels: " + groupLabels
	}
	return fmt.Sprintf(`apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: %s%s}
spec:
  accessModes: [%s]
%s  resources: {requests: {storage: %s}}
  storageClassName: %s
`, c.name, labels, f.subject.access(c.access), mode, size, className)
}

// static is a claim with an existing volume.
func (c claim) static(f *Facts, mode string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: PersistentVolume
metadata: {name: %[1]s}
spec:
  accessModes: [%[2]s]
%[3]s  capacity: {storage: %[4]s}
  persistentVolumeReclaimPolicy: Retain
  storageClassName: ""
%[8]s  csi: {driver: %[5]s, volumeHandle: %[6]s%[7]s}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: %[1]s}
spec:
  accessModes: [%[2]s]
%[3]s  resources: {requests: {storage: %[4]s}}
  storageClassName: ""
  volumeName: %[1]s
`, c.name, f.subject.access(c.access), mode, f.subject.size(), f.Name, strconv.Quote(f.handle(c.name)),
		f.subject.fsType()+pairs(", volumeAttributes: ", f.subject.Attributes)+f.subject.secretRefs(), f.subject.mountOptions())
}

// pod is a pod with volumes.
type pod struct {
	name, node string
	claims     []claim
	readOnly   bool
	subPath    string // the part of each volume in the container; empty means the whole volume
	scratch    []scratch
	group      int // its fsGroup; 0 for none
}

func (p pod) manifest(f *Facts) string {
	var mounts, devices, volumes []string
	for i, c := range p.claims {
		readOnly := ""
		if p.readOnly {
			readOnly = ", readOnly: true"
		}
		if c.form == block {
			devices = append(devices, fmt.Sprintf("{name: %s, devicePath: /dev/xvd%c}", c.name, 'a'+i))
		} else {
			subPath := ""
			if p.subPath != "" {
				subPath = ", subPath: " + p.subPath
			}
			mounts = append(mounts, fmt.Sprintf("{name: %s, mountPath: /%s%s}", c.name, c.name, subPath))
		}
		volumes = append(volumes, fmt.Sprintf("  - {name: %s, persistentVolumeClaim: {claimName: %s%s}}\n", c.name, c.name, readOnly))
	}
	for _, s := range p.scratch {
		readOnly := ""
		if p.readOnly || f.InlineReadOnly {
			readOnly = ", readOnly: true"
		}
		mounts = append(mounts, fmt.Sprintf("{name: %s, mountPath: /%s}", s.name, s.name))
		volumes = append(volumes, fmt.Sprintf("  - {name: %s, csi: {driver: %s%s%s}}\n", s.name, f.Name, readOnly,
			f.subject.fsType()+pairs(", volumeAttributes: ", f.attributesOf(s))+f.subject.inlineSecret()))
	}
	uses := ""
	if len(mounts) > 0 {
		uses += ", volumeMounts: [" + strings.Join(mounts, ", ") + "]"
	}
	if len(devices) > 0 {
		uses += ", volumeDevices: [" + strings.Join(devices, ", ") + "]"
	}
	group := ""
	if p.group != 0 {
		group = fmt.Sprintf("  securityContext: {fsGroup: %d}\n", p.group)
	}
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
%s  nodeSelector: {kubernetes.io/hostname: %s}
  containers:
  - {name: main, image: registry.local/sleep:1%s}
  volumes:
%s`, p.name, group, p.node, uses, strings.Join(volumes, ""))
}

// classManifest is the StorageClass as an entry of a scenario's objects.
func classManifest(f *Facts, immediate bool) string {
	binding := ""
	if f.Topology() && !immediate {
		binding = "  volumeBindingMode: WaitForFirstConsumer\n"
	}
	binding += f.subject.mountOptions()
	if f.Expands() {
		binding += "  allowVolumeExpansion: true\n"
	}
	return fmt.Sprintf(`- apiVersion: storage.k8s.io/v1
  kind: StorageClass
  metadata: {name: %s}
  provisioner: %s
%s%s`, className, f.Name, binding, parameters("  ", f.subject.classParameters()))
}

// csiDriverManifest returns the CSIDriver object as an entry of a scenario's objects; empty if the
// default object suffices.
func csiDriverManifest(f *Facts) string {
	spec := f.subject.CSIDriver
	if spec == nil || f.subject.Driver.Profile != "" || len(f.subject.Driver.Deploy) > 0 {
		return ""
	}
	info := spec.PodInfoOnMount != nil && *spec.PodInfoOnMount
	modes := make([]string, len(spec.VolumeLifecycleModes))
	for i, mode := range spec.VolumeLifecycleModes {
		modes[i] = string(mode)
	}
	more := ""
	if spec.FSGroupPolicy != nil {
		more = ", fsGroupPolicy: " + string(*spec.FSGroupPolicy)
	}
	if tokens := tokenRequests(spec.TokenRequests); tokens != "" {
		more += ", tokenRequests: [" + tokens + "]"
	}
	return fmt.Sprintf(`- apiVersion: storage.k8s.io/v1
  kind: CSIDriver
  metadata: {name: %s}
  spec: {attachRequired: %t, podInfoOnMount: %t, volumeLifecycleModes: [%s]%s}
`, f.Name, f.Attaches(), info, strings.Join(modes, ", "), more)
}

// tokenRequests are entries of a CSIDriver object.
func tokenRequests(asked []storagev1.TokenRequest) string {
	var entries []string
	for _, t := range asked {
		entry := "audience: " + strconv.Quote(t.Audience)
		if t.ExpirationSeconds != nil {
			entry += fmt.Sprintf(", expirationSeconds: %d", *t.ExpirationSeconds)
		}
		entries = append(entries, "{"+entry+"}")
	}
	return strings.Join(entries, ", ")
}

// parameters formats the parameters of a class, in a line with an indentation.
func parameters(indent string, all map[string]string) string {
	if len(all) == 0 {
		return ""
	}
	return indent + "parameters: " + pairs("", all) + "\n"
}

// pairs formats the entries of a map in one line, after a prefix; empty for an empty map.
func pairs(prefix string, all map[string]string) string {
	if len(all) == 0 {
		return ""
	}
	var entries []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		entries = append(entries, strconv.Quote(key)+": "+strconv.Quote(all[key]))
	}
	return prefix + "{" + strings.Join(entries, ", ") + "}"
}
