package token_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakekubelet/internal/token"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

var robot = store.Key{Namespace: "default", Name: "robot"}

func request(life int64, audiences ...string) *authenticationv1.TokenRequest {
	return &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: audiences, ExpirationSeconds: &life}}
}

// story runs a process of a kubelet; later lets time pass.
func story(t *testing.T, tell func(p *kernel.Process, m *token.Manager, w *component.World)) {
	k := kernel.New(kernel.Options{})
	w := component.NewWorld(k, kind.NewStore(store.Options{Now: k.Now}), trace.NewRecorder(k))
	kubelet := w.Start("kubelet", "node-a")
	m := token.New(kubelet)
	_, err := store.Create(w.Store, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: robot.Name, Namespace: robot.Namespace}})
	require.NoError(t, err)
	got := false
	kubelet.Go("story", func(p *kernel.Process) { tell(p, m, w); got = true })
	k.Run(kernel.Until{})
	require.NoError(t, k.Err())
	require.True(t, got)
	k.Close()
}

func TestTheRefreshOfATokenInAdvance(t *testing.T) { // K-PUB-6
	for _, c := range []struct {
		name  string
		life  time.Duration
		age   time.Duration
		fresh bool
	}{
		{"young", time.Hour, 47 * time.Minute, false},
		{"in its last fifth", time.Hour, 49 * time.Minute, true},
		{"a long-lived one within a day", 48 * time.Hour, 23 * time.Hour, false},
		{"a long-lived one after a day", 48 * time.Hour, 25 * time.Hour, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			story(t, func(p *kernel.Process, m *token.Manager, _ *component.World) {
				first, err := m.Get(p, robot, request(int64(c.life.Seconds()), "a"))
				require.NoError(t, err)
				p.Sleep(c.age)
				second, err := m.Get(p, robot, request(int64(c.life.Seconds()), "a"))
				require.NoError(t, err)
				assert.Equal(t, c.fresh, first.Status.Token != second.Status.Token)
			})
		})
	}
}

func TestTokensAreDistinguishedByAudienceAndLife(t *testing.T) { // K-PUB-6
	story(t, func(p *kernel.Process, m *token.Manager, _ *component.World) {
		seen := map[string]bool{}
		for _, r := range []*authenticationv1.TokenRequest{request(3600, "a"), request(3600, "b"), request(600, "a")} {
			issued, err := m.Get(p, robot, r)
			require.NoError(t, err)
			seen[issued.Status.Token] = true
		}
		assert.Len(t, seen, 3)
	})
}

func TestAnOldTokenServesWhileItIsValid(t *testing.T) { // K-PUB-6
	story(t, func(p *kernel.Process, m *token.Manager, w *component.World) {
		first, err := m.Get(p, robot, request(600, "a"))
		require.NoError(t, err)
		_, err = store.Delete[*corev1.ServiceAccount](w.Store, robot)
		require.NoError(t, err)
		p.Sleep(9 * time.Minute)
		old, err := m.Get(p, robot, request(600, "a"))
		require.NoError(t, err, "the API server refuses, but there is the old one")
		assert.Equal(t, first, old)

		p.Sleep(time.Minute + 30*time.Second)
		_, err = m.Get(p, robot, request(600, "a"))
		assert.ErrorContains(t, err, "expired and refresh failed: serviceaccounts \"robot\" not found")
		p.Sleep(time.Minute)
		_, err = m.Get(p, robot, request(600, "a"))
		assert.ErrorContains(t, err, "failed to fetch token: serviceaccounts \"robot\" not found", "it has been swept out")
	})
}
