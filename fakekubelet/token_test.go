package fakekubelet_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	csispec "github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/world/store"
)

const tokensKey = "csi.storage.k8s.io/serviceAccount.tokens"

func tokensFor(audiences ...string) func(*storagev1.CSIDriverSpec) {
	return func(s *storagev1.CSIDriverSpec) {
		for _, audience := range audiences {
			s.TokenRequests = append(s.TokenRequests, storagev1.TokenRequest{Audience: audience})
		}
	}
}

func all(changes ...func(*storagev1.CSIDriverSpec)) func(*storagev1.CSIDriverSpec) {
	return func(s *storagev1.CSIDriverSpec) {
		for _, change := range changes {
			change(s)
		}
	}
}

func republish(s *storagev1.CSIDriverSpec) { s.RequiresRepublish = new(true) }
func inSecrets(s *storagev1.CSIDriverSpec) { s.ServiceAccountTokenInSecrets = new(true) }

// K-PUB-5, fact 69
//
// conformance: csimock-token-not-requested, unit-token-none, csimock-token-no-csidriver,
// csimock-token-in-context, unit-token-named-audience
func TestWhereTheTokensOfThePodAre(t *testing.T) {
	secret := func(pv *corev1.PersistentVolume) {
		pv.Spec.CSI.NodePublishSecretRef = &corev1.SecretReference{Namespace: "default", Name: "publish"}
	}
	for _, c := range []struct {
		name             string
		setting          setting
		context, secrets []string // keys
	}{
		{"not asked for", setting{}, nil, []string{"user"}},
		{"no CSIDriver", setting{noCSIDriver: true}, nil, []string{"user"}},
		{"in the volume context", setting{csiDriver: tokensFor("gcp")}, []string{tokensKey}, []string{"user"}},
		{"in the secrets", setting{csiDriver: all(tokensFor("gcp"), inSecrets)}, nil, []string{"user", tokensKey}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, c.setting)
			create(n, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "publish", Namespace: "default"}, Data: map[string][]byte{"user": []byte("u")}})
			n.volume("data", secret)
			n.attached("data")
			n.pod("web", using("data"))
			n.until(func() bool { return n.phase("web") == corev1.PodRunning })
			got := request[*csispec.NodePublishVolumeRequest](n)
			assert.ElementsMatch(t, c.context, keys(got.VolumeContext))
			assert.ElementsMatch(t, c.secrets, keys(got.Secrets))
			assert.Empty(t, request[*csispec.NodeStageVolumeRequest](n).VolumeContext, "never when staging")
		})
	}
}

func TestTheTokensOfABlockVolumeAreNotSent(t *testing.T) { // K-PUB-5, K-BLK-3
	n := start(t, setting{csiDriver: tokensFor("gcp")})
	n.volume("data", block)
	n.pod("web", usingDevice("data"))
	n.run("web")
	assert.Empty(t, request[*csispec.NodePublishVolumeRequest](n).VolumeContext)
}

func TestATokenIsBoundToAPodAnAudienceAndATime(t *testing.T) { // K-PUB-5
	n := start(t, setting{csiDriver: func(s *storagev1.CSIDriverSpec) {
		s.TokenRequests = []storagev1.TokenRequest{{Audience: "aud1", ExpirationSeconds: new(int64(600))}, {}}
	}})
	n.volume("data")
	uid := n.pod("web", using("data"))
	n.run("web")
	got := tokens(t, request[*csispec.NodePublishVolumeRequest](n))
	require.ElementsMatch(t, []string{"aud1", ""}, keys(got))

	claims := claimsOf(t, got["aud1"].Token)
	assert.Equal(t, []any{"aud1"}, claims["aud"])
	assert.Equal(t, "system:serviceaccount:default:default", claims["sub"])
	assert.Equal(t, string(uid), claims["kubernetes.io"].(map[string]any)["pod"].(map[string]any)["uid"])
	age := got["aud1"].ExpirationTimestamp.Sub(n.Kernel.Now())
	assert.InDelta(t, 600, age.Seconds(), 2)
	assert.InDelta(t, 3600, got[""].ExpirationTimestamp.Sub(n.Kernel.Now()).Seconds(), 2, "an hour by default")
	assert.Equal(t, []any{"https://kubernetes.default.svc"}, claimsOf(t, got[""].Token)["aud"])
}

// K-PUB-6: a token is renewed before the last fifth of its life.
func TestATokenIsRenewedBeforeItsEnd(t *testing.T) {
	n := start(t, setting{csiDriver: all(republish, func(s *storagev1.CSIDriverSpec) {
		s.TokenRequests = []storagev1.TokenRequest{{Audience: "aud1", ExpirationSeconds: new(int64(600))}}
	})})
	n.volume("data")
	n.pod("web", using("data"))
	n.run("web")
	first := tokens(t, request[*csispec.NodePublishVolumeRequest](n))["aud1"]
	n.pass(7 * time.Minute)
	assert.Equal(t, first, tokens(t, request[*csispec.NodePublishVolumeRequest](n))["aud1"], "the cached one")
	n.pass(2 * time.Minute)
	assert.NotEqual(t, first, tokens(t, request[*csispec.NodePublishVolumeRequest](n))["aud1"])
}

func TestAnUnavailableToken(t *testing.T) { // K-PUB-5, K-PUB-9: a transient error
	n := start(t, setting{driver: mock.Options{Ephemeral: true}, csiDriver: all(podInfo, tokensFor("gcp"))})
	robot := func() *corev1.ServiceAccount {
		return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot", Namespace: "default"}}
	}
	create(n, robot())
	n.pod("web", inline("scratch"), func(spec *corev1.PodSpec) { spec.ServiceAccountName = "robot" })
	_, err := store.Delete[*corev1.ServiceAccount](n.Store, podKey("robot"))
	require.NoError(t, err)
	n.pass(300 * time.Millisecond)
	assert.Empty(t, n.calls())
	assert.Equal(t, []string{`Warning FailedMount: MountVolume.SetUp failed for volume "scratch" : kubernetes.io/csi: mounter.SetUpAt failed to get service accoount token attributes: failed to fetch token: serviceaccounts "robot" not found (1)`}, n.events())

	create(n, robot())
	n.run("web")
	assert.Equal(t, "system:serviceaccount:default:robot", claimsOf(t, tokens(t, request[*csispec.NodePublishVolumeRequest](n))["gcp"].Token)["sub"])
}

func keys[V any](m map[string]V) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	return names
}

func tokens(t *testing.T, r *csispec.NodePublishVolumeRequest) map[string]authenticationv1.TokenRequestStatus {
	t.Helper()
	var byAudience map[string]authenticationv1.TokenRequestStatus
	require.NoError(t, json.Unmarshal([]byte(r.VolumeContext[tokensKey]), &byAudience))
	return byAudience
}

func claimsOf(t *testing.T, token string) map[string]any {
	t.Helper()
	parts := strings.Split(token, ".")
	require.Len(t, parts, 3)
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	require.NoError(t, err)
	var claims map[string]any
	require.NoError(t, json.Unmarshal(text, &claims))
	return claims
}
