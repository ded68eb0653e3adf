package check

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// secretName returns the name of the Secret for a kind of calls, such as node-stage.
func secretName(kind string) string { return className + "-" + kind }

// secretManifests are the Secrets as entries of a scenario's objects.
func (s Subject) secretManifests() string {
	var b strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(s.Secrets)) {
		fmt.Fprintf(&b, "- {apiVersion: v1, kind: Secret, metadata: {name: %s, namespace: default}%s}\n", secretName(kind), pairs(", stringData: ", s.Secrets[kind]))
	}
	return b.String()
}

// classParameters returns the parameters of the StorageClass: the driver's, and those that
// Kubernetes itself uses.
func (s Subject) classParameters() map[string]string {
	all := s.withSecrets(s.Parameters, "provisioner", "controller-publish", "node-stage", "node-publish", "controller-expand", "node-expand")
	if s.FSType != "" {
		all[parameterPrefix+"fstype"] = s.FSType
	}
	return all
}

func (s Subject) snapshotParameters() map[string]string {
	return s.withSecrets(s.SnapshotParameters, "snapshotter", "snapshotter-list")
}

// groupParameters returns the parameters of the VolumeGroupSnapshotClass, with the Secret of
// CreateSnapshot.
func (s Subject) groupParameters() map[string]string {
	if _, given := s.Secrets["snapshotter"]; !given {
		return nil
	}
	const key = parameterPrefix + "group-snapshotter-secret-"
	return map[string]string{key + "name": secretName("snapshotter"), key + "namespace": "default"}
}

// parameterPrefix begins the names of parameters that Kubernetes itself uses.
const parameterPrefix = "csi.storage.k8s.io/"

// withSecrets adds the names of Secrets to parameters.
func (s Subject) withSecrets(parameters map[string]string, kinds ...string) map[string]string {
	all := maps.Clone(parameters)
	if all == nil {
		all = map[string]string{}
	}
	for _, kind := range kinds {
		if _, given := s.Secrets[kind]; given {
			all[parameterPrefix+kind+"-secret-name"], all[parameterPrefix+kind+"-secret-namespace"] = secretName(kind), "default"
		}
	}
	return all
}

// secretRefs are the Secrets of an existing volume, as fields of its csi source.
func (s Subject) secretRefs() string {
	refs := ""
	for _, ref := range [][2]string{
		{"controller-publish", "controllerPublishSecretRef"}, {"node-stage", "nodeStageSecretRef"}, {"node-publish", "nodePublishSecretRef"},
		{"controller-expand", "controllerExpandSecretRef"}, {"node-expand", "nodeExpandSecretRef"},
	} {
		if _, given := s.Secrets[ref[0]]; given {
			refs += fmt.Sprintf(", %s: {name: %s, namespace: default}", ref[1], secretName(ref[0]))
		}
	}
	return refs
}

// inlineSecret is the Secret of an inline volume, as a field of its csi source.
func (s Subject) inlineSecret() string {
	if _, given := s.Secrets["node-publish"]; !given {
		return ""
	}
	return fmt.Sprintf(", nodePublishSecretRef: {name: %s}", secretName("node-publish"))
}

// fsType is a field of a csi source.
func (s Subject) fsType() string {
	if s.FSType == "" {
		return ""
	}
	return ", fsType: " + s.FSType
}

// mountOptions are a field of a StorageClass and of a volume's spec.
func (s Subject) mountOptions() string {
	if len(s.MountOptions) == 0 {
		return ""
	}
	quoted := make([]string, len(s.MountOptions))
	for i, option := range s.MountOptions {
		quoted[i] = strconv.Quote(option)
	}
	return "  mountOptions: [" + strings.Join(quoted, ", ") + "]\n"
}
