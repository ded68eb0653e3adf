package kubeletaccess

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	kubeletapis "k8s.io/kubelet/pkg/apis"
)

// checkNode permits a kubelet to write its own node, except for the fields that influence
// scheduling.
func (r restriction) checkNode() error {
	if r.Name != r.node {
		return fmt.Errorf("node %q is not allowed to modify node %q", r.node, r.Name)
	}
	node, _ := r.Object.(*corev1.Node)
	old, _ := r.Old.(*corev1.Node)
	switch r.Operation {
	case admissionv1.Create:
		//lint:ignore SA1019 the API has it still
		if node.Spec.ConfigSource != nil {
			return fmt.Errorf("node %q is not allowed to create pods with a non-nil configSource", r.node)
		}
		if labels := forbiddenLabels(node.Labels, nil); len(labels) > 0 {
			return fmt.Errorf("node %q is not allowed to set the following labels: %s", r.node, strings.Join(labels, ", "))
		}
	case admissionv1.Update:
		return r.checkNodeUpdate(node, old)
	}
	return nil
}

func (r restriction) checkNodeUpdate(node, old *corev1.Node) error {
	//lint:ignore SA1019 the API has it still
	source, before := node.Spec.ConfigSource, old.Spec.ConfigSource
	switch {
	case source != nil && !apiequality.Semantic.DeepEqual(source, before):
		return fmt.Errorf("node %q is not allowed to update configSource to a new non-nil configSource", r.node)
	case !apiequality.Semantic.DeepEqual(node.Spec.Taints, old.Spec.Taints):
		return fmt.Errorf("node %q is not allowed to modify taints", r.node)
	case !apiequality.Semantic.DeepEqual(node.OwnerReferences, old.OwnerReferences):
		return fmt.Errorf("node %q is not allowed to modify ownerReferences", r.node)
	}
	if labels := forbiddenLabels(node.Labels, old.Labels); len(labels) > 0 {
		return fmt.Errorf("is not allowed to modify labels: %s", strings.Join(labels, ", "))
	}
	return nil
}

// forbiddenLabels returns the changed labels that no kubelet may change, sorted.
func forbiddenLabels(labels, before map[string]string) (forbidden []string) {
	keys := slices.Compact(slices.Sorted(func(yield func(string) bool) {
		for _, all := range []map[string]string{labels, before} {
			for key := range all {
				if !yield(key) {
					return
				}
			}
		}
	}))
	return slices.DeleteFunc(keys, func(key string) bool {
		value, is := labels[key]
		was, had := before[key]
		return is == had && value == was || !isForbidden(key)
	})
}

// isForbidden: kubelets may set no node-restriction labels. Among Kubernetes' own labels, they may
// set only the labels of kubelets.
func isForbidden(key string) bool {
	domain, _, ok := strings.Cut(key, "/")
	if !ok {
		return false
	}
	within := func(name string) bool { return domain == name || strings.HasSuffix(domain, "."+name) }
	return within(corev1.LabelNamespaceNodeRestriction) ||
		(within("kubernetes.io") || within("k8s.io")) && !kubeletapis.IsKubeletLabel(key)
}

// checkSigningRequest permits a kubelet to request certificates only for its own name.
func (r restriction) checkSigningRequest() error {
	request, ok := r.Object.(*certificatesv1.CertificateSigningRequest)
	signers := []string{certificatesv1.KubeletServingSignerName, certificatesv1.KubeAPIServerClientKubeletSignerName}
	if r.Operation != admissionv1.Create || ok && !slices.Contains(signers, request.Spec.SignerName) {
		return nil
	}
	if !ok {
		return fmt.Errorf("unexpected type %T", r.Object)
	}
	block, _ := pem.Decode(request.Spec.Request)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return errors.New("unable to parse csr: PEM block type must be CERTIFICATE REQUEST")
	}
	parsed, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return fmt.Errorf("unable to parse csr: %w", err)
	}
	if name := "system:node:" + r.node; parsed.Subject.CommonName != name {
		return fmt.Errorf("can only create a node CSR with CN=%s", name)
	}
	return nil
}
