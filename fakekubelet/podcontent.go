package fakekubelet

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/sim/component"
	"github.com/csisim/csisim/sim/kernel"
	"github.com/csisim/csisim/sim/store"
)

// rootAuthority is the config map with the API server's certificate that every namespace has.
const rootAuthority = "kube-root-ca.crt"

func sortedNames(content files) []string { return slices.Sorted(maps.Keys(content)) }

// accountFiles are what a container finds of its service account.
func (w *podWorker) accountFiles() files {
	return files{"token": []byte(w.options.API.Token), "ca.crt": w.options.API.Authority, "namespace": []byte(w.pod.Namespace)}
}

func (w *podWorker) configMapFiles(p *kernel.Process, name string, items []corev1.KeyToPath, optional *bool) (files, error) {
	object, err := w.configMap(p, name, optional)
	if err != nil && name == rootAuthority && w.options.API != nil {
		object, err = &corev1.ConfigMap{Data: map[string]string{"ca.crt": string(w.options.API.Authority)}}, nil
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
	return chosen(content, items, optional)
}

func (w *podWorker) secretFiles(p *kernel.Process, name string, items []corev1.KeyToPath, optional *bool) (files, error) {
	object, err := w.secret(p, name, optional)
	if err != nil {
		return nil, err
	}
	return chosen(object.Data, items, optional)
}

// chosen are the entries that items name, under their paths; all if there are no items.
func chosen(all files, items []corev1.KeyToPath, optional *bool) (files, error) {
	if len(items) == 0 {
		return all, nil
	}
	content := files{}
	for _, item := range items {
		data, ok := all[item.Key]
		if !ok && (optional == nil || !*optional) {
			return nil, fmt.Errorf("references non-existent config key: %s", item.Key)
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
	for i := range w.pod.Spec.Containers {
		if c := &w.pod.Spec.Containers[i]; item.ResourceFieldRef != nil && c.Name == item.ResourceFieldRef.ContainerName {
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

// tokenFiles is a token of the pod's service account: for the API server the one that it
// takes, for others one like a real one.
func (w *podWorker) tokenFiles(p *kernel.Process, asked *corev1.ServiceAccountTokenProjection) (files, error) {
	if asked.Audience == "" && w.options.API != nil {
		return files{asked.Path: []byte(w.options.API.Token)}, nil
	}
	issued, err := component.IssueToken(p, w.Component, store.Key{Namespace: w.pod.Namespace, Name: w.pod.Spec.ServiceAccountName},
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
			Audiences: []string{asked.Audience}, ExpirationSeconds: cmp.Or(asked.ExpirationSeconds, new(int64(3600))),
			BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: w.pod.Name, UID: w.pod.UID},
		}})
	if err != nil {
		return nil, err
	}
	return files{asked.Path: []byte(issued.Status.Token)}, nil
}
