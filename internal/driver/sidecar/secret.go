package sidecar

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// ReadSecret returns the content of a secret, or nothing if there is no reference.
func ReadSecret(p *kernel.Process, c *component.Component, ref *corev1.SecretReference) (map[string]string, error) {
	if ref == nil {
		return nil, nil
	}
	secret, err := component.Live[*corev1.Secret](p, c, store.Key{Namespace: ref.Namespace, Name: ref.Name})
	if err != nil {
		return nil, fmt.Errorf("error getting secret %s in namespace %s: %w", ref.Name, ref.Namespace, err)
	}
	content := map[string]string{}
	for key, value := range secret.Data {
		content[key] = string(value)
	}
	return content, nil
}
