package apiserver

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/sim/store"
)

const (
	issuer          = "https://kubernetes.default.svc"
	defaultLifetime = time.Hour
	leastLifetime   = 10 * time.Minute
	longestLifetime = 1 << 32 * time.Second
)

// tokenRequests is the kind of the body.
var tokenRequests = schema.GroupKind{Group: "authentication.k8s.io", Kind: "TokenRequest"}

// signingKey is made when the first token is asked for, and is the same for all
// servers of the process.
var signingKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// issueToken signs a token for a service account.
func (q *request) issueToken() error {
	var wanted authenticationv1.TokenRequest
	if err := q.readAs(&wanted); err != nil {
		return err
	}
	var account *corev1.ServiceAccount
	var bound map[string]any
	err := q.exclusively(func() error {
		obj, err := q.object()
		if err != nil {
			return err
		}
		account = obj.(*corev1.ServiceAccount)
		settleTokenRequest(&wanted)
		if errs := tokenMistakes(&wanted); len(errs) > 0 {
			return apierrors.NewInvalid(tokenRequests, "", errs)
		}
		bound, err = q.boundObject(wanted.Spec.BoundObjectRef)
		return err
	})
	if err != nil {
		return err
	}
	now := q.server.options.Now().Truncate(time.Second)
	until := now.Add(time.Duration(*wanted.Spec.ExpirationSeconds) * time.Second)
	text, err := signed(claims(account, bound, wanted.Spec.Audiences, now, until))
	if err != nil {
		return fmt.Errorf("signing a token: %w", err)
	}
	wanted.TypeMeta = metav1.TypeMeta{Kind: "TokenRequest", APIVersion: "authentication.k8s.io/v1"}
	wanted.ObjectMeta = metav1.ObjectMeta{
		Name: account.Name, Namespace: account.Namespace, UID: account.UID, CreationTimestamp: account.CreationTimestamp,
	}
	wanted.Status = authenticationv1.TokenRequestStatus{Token: text, ExpirationTimestamp: metav1.NewTime(until)}
	return q.answer.encoded(http.StatusCreated, &wanted)
}

func settleTokenRequest(r *authenticationv1.TokenRequest) {
	if r.Spec.ExpirationSeconds == nil {
		seconds := int64(defaultLifetime / time.Second)
		r.Spec.ExpirationSeconds = &seconds
	}
	if len(r.Spec.Audiences) == 0 {
		r.Spec.Audiences = []string{issuer}
	}
}

func tokenMistakes(r *authenticationv1.TokenRequest) (errs field.ErrorList) {
	path, seconds := field.NewPath("spec", "expirationSeconds"), *r.Spec.ExpirationSeconds
	if seconds < int64(leastLifetime/time.Second) {
		errs = append(errs, field.Invalid(path, seconds, "may not specify a duration less than 10 minutes"))
	}
	if seconds > int64(longestLifetime/time.Second) {
		errs = append(errs, field.Invalid(path, seconds, "may not specify a duration larger than 2^32 seconds"))
	}
	return errs
}

// boundObject is what the token says of the object whose end is the token's, too.
func (q *request) boundObject(ref *authenticationv1.BoundObjectReference) (map[string]any, error) {
	if ref == nil {
		return nil, nil
	}
	gvk := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	names := map[schema.GroupVersionKind]string{
		corev1.SchemeGroupVersion.WithKind("Pod"): "pod", corev1.SchemeGroupVersion.WithKind("Secret"): "secret",
		corev1.SchemeGroupVersion.WithKind("Node"): "node",
	}
	name, ok := names[gvk]
	if !ok {
		return nil, badRequest("cannot bind token for serviceaccount %q to an object of type %s", q.place.name, gvk)
	}
	res, _ := store.ResourceFor(gvk)
	key := store.Key{Name: ref.Name}
	if res.Namespaced {
		key.Namespace = q.place.namespace
	}
	obj, ok := q.server.store.GetObject(res, key)
	if !ok {
		return nil, apierrors.NewNotFound(res.GVR.GroupResource(), ref.Name)
	}
	if ref.UID != "" && ref.UID != obj.GetUID() {
		return nil, apierrors.NewConflict(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, ref.Name,
			fmt.Errorf("the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", ref.UID))
	}
	said := map[string]any{name: nameAndUID(obj.GetName(), obj.GetUID())}
	if pod, ok := obj.(*corev1.Pod); ok {
		if err := q.sayNode(said, pod); err != nil {
			return nil, err
		}
	}
	return said, nil
}

// sayNode adds the node of a pod that runs as the account.
func (q *request) sayNode(said map[string]any, pod *corev1.Pod) error {
	if pod.Spec.ServiceAccountName != q.place.name {
		return badRequest("cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", q.place.name)
	}
	if node := pod.Spec.NodeName; node != "" {
		uid := types.UID("")
		if n, ok := store.Get[*corev1.Node](q.server.store, store.Key{Name: node}); ok {
			uid = n.UID
		}
		said["node"] = nameAndUID(node, uid)
	}
	return nil
}

func nameAndUID(name string, uid types.UID) map[string]any {
	said := map[string]any{"name": name}
	if uid != "" {
		said["uid"] = uid
	}
	return said
}

func claims(account *corev1.ServiceAccount, bound map[string]any, audiences []string, now, until time.Time) map[string]any {
	about := map[string]any{"namespace": account.Namespace, "serviceaccount": nameAndUID(account.Name, account.UID)}
	for name, said := range bound {
		about[name] = said
	}
	return map[string]any{
		"aud": audiences, "exp": until.Unix(), "iat": now.Unix(), "nbf": now.Unix(), "iss": issuer, "jti": uuid.NewUUID(),
		"sub": "system:serviceaccount:" + account.Namespace + ":" + account.Name, "kubernetes.io": about,
	}
}

// signed is a JSON web token.
func signed(claims map[string]any) (string, error) {
	key, err := signingKey()
	if err != nil {
		return "", err
	}
	id := sha256.Sum256(key.N.Bytes())
	header, err := json.Marshal(map[string]string{"alg": "RS256", "kid": base64.RawURLEncoding.EncodeToString(id[:])})
	if err != nil {
		return "", err
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(payload)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		return "", err
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}
