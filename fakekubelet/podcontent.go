package fakekubelet

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet/internal/runtime"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/kernel"
)

// rootAuthority is the config map with the API server's certificate that every namespace has.
const rootAuthority = "kube-root-ca.crt"

func sortedNames(content files) []string { return slices.Sorted(maps.Keys(content)) }

// accountFiles returns the files of a container's service account.
func (w *podWorker) accountFiles(p *kernel.Process) (files, error) {
	content, err := w.tokenFiles(p, &corev1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: new(kind.AccountToken)})
	if err != nil {
		return nil, err
	}
	content["ca.crt"], content["namespace"] = w.options.API.Authority, []byte(w.pod.Namespace)
	return content, nil
}

func (w *podWorker) configMapFiles(p *kernel.Process, name string, items []corev1.KeyToPath, optional *bool) (files, error) {
	object, err := w.configMap(p, name, optional)
	if err != nil && name == rootAuthority {
		var authority []byte // nil if no program could use it
		if w.options.API != nil {
			authority = w.options.API.Authority
		}
		object, err = &corev1.ConfigMap{Data: map[string]string{"ca.crt": string(authority)}}, nil
	}
	if err != nil {
		return nil, err
	}
	content := files{}
	maps.Copy(content, object.BinaryData)
	// In any order: they go into a map.
	for key, text := range object.Data {
		content[key] = []byte(text)
	}
	return chosen("config", content, items, optional)
}

func (w *podWorker) secretFiles(p *kernel.Process, name string, items []corev1.KeyToPath, optional *bool) (files, error) {
	object, err := w.secret(p, name, optional)
	if err != nil {
		return nil, err
	}
	return chosen("secret", object.Data, items, optional)
}

// chosen returns the entries that items name, under their paths; without items, it returns all
// entries. The kind of the entries appears in errors.
func chosen(kind string, all files, items []corev1.KeyToPath, optional *bool) (files, error) {
	if len(items) == 0 {
		return all, nil
	}
	content := files{}
	for _, item := range items {
		data, ok := all[item.Key]
		if !ok && (optional == nil || !*optional) {
			return nil, fmt.Errorf("references non-existent %s key: %s", kind, item.Key)
		}
		if ok {
			content[item.Path] = data
		}
	}
	return content, nil
}

func (w *podWorker) downwardFiles(items []corev1.DownwardAPIVolumeFile) (files, error) {
	content := files{}
	for _, item := range items {
		text, err := w.downward(item)
		if err != nil {
			return nil, err
		}
		content[item.Path] = []byte(text)
	}
	return content, nil
}

func (w *podWorker) downward(item corev1.DownwardAPIVolumeFile) (string, error) {
	if item.FieldRef != nil {
		return w.field(item.FieldRef.FieldPath)
	}
	for _, c := range runtime.Containers(w.pod) {
		if item.ResourceFieldRef != nil && c.Name == item.ResourceFieldRef.ContainerName {
			return resourceField(c, item.ResourceFieldRef)
		}
	}
	return "", fmt.Errorf("file %s has no source that is known", item.Path)
}

func (w *podWorker) projectedFiles(p *kernel.Process, sources []corev1.VolumeProjection) (files, error) {
	all := files{}
	for _, s := range sources {
		var content files
		var err error
		switch {
		case s.ConfigMap != nil:
			content, err = w.configMapFiles(p, s.ConfigMap.Name, s.ConfigMap.Items, s.ConfigMap.Optional)
		case s.Secret != nil:
			content, err = w.secretFiles(p, s.Secret.Name, s.Secret.Items, s.Secret.Optional)
		case s.DownwardAPI != nil:
			content, err = w.downwardFiles(s.DownwardAPI.Items)
		case s.ServiceAccountToken != nil:
			content, err = w.tokenFiles(p, s.ServiceAccountToken)
		}
		if err != nil {
			return nil, err
		}
		maps.Copy(all, content)
	}
	return all, nil
}

// tokenFiles is a token of the pod's service account. Its audience is the API server by default.
func (w *podWorker) tokenFiles(p *kernel.Process, asked *corev1.ServiceAccountTokenProjection) (files, error) {
	issued, err := w.csi.PodToken(p, w.pod, asked.Audience, asked.ExpirationSeconds)
	if err != nil {
		return nil, err
	}
	return files{asked.Path: []byte(issued.Status.Token)}, nil
}

// hasTokens reports whether a volume of the pod has a token, which expires.
func (w *podWorker) hasTokens() bool {
	return w.programs != nil && (w.mountsAccount() || slices.ContainsFunc(w.pod.Spec.Volumes, isToken))
}

func isToken(v corev1.Volume) bool {
	return v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, func(s corev1.VolumeProjection) bool { return s.ServiceAccountToken != nil })
}

// renewTokens rewrites tokens that expire soon.
func (w *podWorker) renewTokens(p *kernel.Process) {
	if w.programs == nil {
		return
	}
	failed := func(volume string, err error) {
		if err != nil {
			w.Event(w.pod, corev1.EventTypeWarning, "FailedMount", "MountVolume.SetUp failed for volume %q : %v", volume, err)
		}
	}
	for i := range w.pod.Spec.Volumes {
		if v := &w.pod.Spec.Volumes[i]; isToken(*v) {
			failed(v.Name, w.makeVolume(p, v))
		}
	}
	if w.mountsAccount() {
		failed("kube-api-access", w.makeAccountFiles(p))
	}
}
