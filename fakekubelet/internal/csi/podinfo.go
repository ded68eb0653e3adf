package csi

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"

	csispec "github.com/container-storage-interface/spec/lib/go/csi"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// keyTokens carries the service account tokens, as JSON. K-PATH-12
const keyTokens = "csi.storage.k8s.io/serviceAccount.tokens"

// volumeContext returns the volume's attributes, with the pod's identity if the CSIDriver requests
// it. Keys of the same name are overwritten. K-PUB-4, K-PATH-12
func (s *step) volumeContext(spec *Spec, pod *corev1.Pod) map[string]string {
	driver, ok := s.csiDriver()
	if !ok || driver.Spec.PodInfoOnMount == nil || !*driver.Spec.PodInfoOnMount {
		return spec.attributes()
	}
	return spec.merge(spec.attributes(), map[string]string{
		"csi.storage.k8s.io/pod.name":            pod.Name,
		"csi.storage.k8s.io/pod.namespace":       pod.Namespace,
		"csi.storage.k8s.io/pod.uid":             string(pod.UID),
		"csi.storage.k8s.io/serviceAccount.name": pod.Spec.ServiceAccountName,
		"csi.storage.k8s.io/ephemeral":           strconv.FormatBool(spec.Inline != nil),
	})
}

func (s *step) csiDriver() (*storagev1.CSIDriver, bool) {
	return volume.CSIDriver(s.kubelet, s.driver)
}

// addTokens adds the service account tokens that the CSIDriver requests. It adds them to the volume
// context or, if the CSIDriver prefers that, to the secrets. K-PUB-5
func (s *step) addTokens(request *csispec.NodePublishVolumeRequest, spec *Spec, pod *corev1.Pod) error {
	driver, ok := s.csiDriver()
	if !ok || len(driver.Spec.TokenRequests) == 0 {
		return nil
	}
	tokens := map[string]authenticationv1.TokenRequestStatus{}
	for _, asked := range driver.Spec.TokenRequests {
		issued, err := s.PodToken(s.process, pod, asked.Audience, asked.ExpirationSeconds)
		if err != nil {
			return fmt.Errorf("kubernetes.io/csi: mounter.SetUpAt failed to get service accoount token attributes: %w", err)
		}
		tokens[asked.Audience] = issued.Status
	}
	text, err := json.Marshal(tokens)
	if err != nil {
		return err
	}
	extra := map[string]string{keyTokens: string(text)}
	if inSecrets := driver.Spec.ServiceAccountTokenInSecrets; inSecrets != nil && *inSecrets {
		request.Secrets = merged(request.Secrets, extra)
	} else {
		request.VolumeContext = spec.merge(request.VolumeContext, extra)
	}
	return nil
}

// PodToken returns a token of the pod's service account that expires with the pod. An empty
// audience means the API server's audience. K-PUB-6
func (pl *Plugin) PodToken(p *kernel.Process, pod *corev1.Pod, audience string, seconds *int64) (*authenticationv1.TokenRequest, error) {
	var audiences []string
	if audience != "" {
		audiences = []string{audience}
	}
	account := store.Key{Namespace: pod.Namespace, Name: pod.Spec.ServiceAccountName}
	return pl.tokens.Get(p, account, &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		Audiences: audiences, ExpirationSeconds: seconds,
		BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID},
	}})
}

// merged returns a new map, because objects of the store must not change.
func merged(first, second map[string]string) map[string]string {
	all := maps.Clone(first)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, second)
	return all
}
