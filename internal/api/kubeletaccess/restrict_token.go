package kubeletaccess

import (
	"errors"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// checkToken permits a kubelet to request tokens that are bound to pods of its node, for the
// audiences that their volumes name.
func (r restriction) checkToken() error {
	if r.Operation != admissionv1.Create || r.Subresource != "token" {
		return nil
	}
	request, ok := r.Object.(*authenticationv1.TokenRequest)
	if !ok {
		return fmt.Errorf("unexpected type %T", r.Object)
	}
	ref := request.Spec.BoundObjectRef
	switch {
	case ref == nil || ref.APIVersion != "v1" || ref.Kind != "Pod" || ref.Name == "":
		return errors.New("node requested token not bound to a pod")
	case ref.UID == "":
		return errors.New("node requested token with a pod binding without a uid")
	}
	pod, err := r.pod(ref.Name)
	switch {
	case err != nil:
		return err
	case ref.UID != pod.UID:
		return fmt.Errorf("the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", ref.UID)
	case pod.Spec.NodeName != r.node:
		return errors.New("node requested token bound to a pod scheduled on a different node")
	}
	return r.checkAudience(request, pod)
}

func (r restriction) checkAudience(request *authenticationv1.TokenRequest, pod *corev1.Pod) error {
	audience := ""
	switch audiences := request.Spec.Audiences; len(audiences) {
	case 0:
	case 1:
		audience = audiences[0]
	default:
		return errors.New("node may only request 0 or 1 audiences")
	}
	named, err := r.namesAudience(pod, audience)
	switch {
	case err != nil:
		return fmt.Errorf("error validating audience %q: %w", audience, err)
	case named:
		return nil
	}
	allowed := r.Authorize(authorizationv1.SubjectAccessReviewSpec{
		User: r.User.Username, Groups: r.User.Groups, UID: r.User.UID,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: "request-serviceaccounts-token-audience", Version: "v1", Resource: audience, Namespace: r.Namespace, Name: r.Name,
		},
	}).Allowed
	if !allowed {
		return fmt.Errorf("audience %q not found in pod spec volume, %s is not authorized to request tokens for this audience", audience, r.User.Username)
	}
	return nil
}

// namesAudience reports whether a volume of a pod names an audience: a projected token, or the
// driver of a volume in its tokenRequests.
func (r restriction) namesAudience(pod *corev1.Pod, audience string) (bool, error) {
	var errs []error
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if isProjected(v, audience) {
			return true, nil
		}
		driver, err := r.driverOf(pod, v)
		if err == nil && driver != "" {
			var requests bool
			if requests, err = r.driverRequests(driver, audience); requests {
				return true, nil
			}
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return false, utilerrors.NewAggregate(errs)
}

func isProjected(v *corev1.Volume, audience string) bool {
	return v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, func(source corev1.VolumeProjection) bool {
		return source.ServiceAccountToken != nil && source.ServiceAccountToken.Audience == audience
	})
}

// driverOf returns the driver of a volume; empty if it is not a CSI volume.
func (r restriction) driverOf(pod *corev1.Pod, v *corev1.Volume) (string, error) {
	if v.CSI != nil {
		return v.CSI.Driver, nil
	}
	if claim, _, ok := volume.ClaimOf(pod, v); ok {
		return r.driverOfClaim(claim)
	}
	pv, ok, err := migration.Inline(v, pod.Namespace)
	if err != nil || !ok {
		return "", err
	}
	return pv.Spec.CSI.Driver, nil
}

func (r restriction) driverOfClaim(key store.Key) (string, error) {
	claim, ok := store.Get[*corev1.PersistentVolumeClaim](r.store, key)
	if !ok {
		return "", store.NotFound[*corev1.PersistentVolumeClaim](key)
	}
	volumeKey := store.Key{Name: claim.Spec.VolumeName}
	volume, ok := store.Get[*corev1.PersistentVolume](r.store, volumeKey)
	if !ok {
		return "", store.NotFound[*corev1.PersistentVolume](volumeKey)
	}
	volume, err := migration.PV(volume)
	if err != nil || volume.Spec.CSI == nil {
		return "", err
	}
	return volume.Spec.CSI.Driver, nil
}

func (r restriction) driverRequests(driver, audience string) (bool, error) {
	key := store.Key{Name: driver}
	object, ok := store.Get[*storagev1.CSIDriver](r.store, key)
	if !ok {
		return false, store.NotFound[*storagev1.CSIDriver](key)
	}
	return slices.ContainsFunc(object.Spec.TokenRequests, func(t storagev1.TokenRequest) bool { return t.Audience == audience }), nil
}
