// Package token is the kubelet's cache of service account tokens.
package token

import (
	"fmt"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// The times at which a new token is requested. K-PUB-6
const (
	maxAge      = 24 * time.Hour
	maxJitter   = 10 * time.Second
	sweepPeriod = time.Minute
)

// Manager is the token cache of one kubelet.
type Manager struct {
	kubelet *component.Component
	started time.Time
	cache   map[string]*authenticationv1.TokenRequest
}

// New returns an empty cache.
func New(kubelet *component.Component) *Manager {
	return &Manager{kubelet: kubelet, started: kubelet.Kernel.Now(), cache: map[string]*authenticationv1.TokenRequest{}}
}

// Get returns a token with sufficient remaining lifetime, from the cache or from the API server. If
// the request fails, it returns the old token while that is valid. K-PUB-6
func (m *Manager) Get(p *kernel.Process, account store.Key, asked *authenticationv1.TokenRequest) (*authenticationv1.TokenRequest, error) {
	m.sweep()
	key := identity(account, asked)
	cached := m.cache[key]
	if cached != nil && !m.needsRefresh(cached) {
		return cached, nil
	}
	issued, err := component.Subresource[*corev1.ServiceAccount](p, m.kubelet, "create token", func(s *store.Store) (*authenticationv1.TokenRequest, error) {
		return kind.IssueToken(s, account, asked)
	})
	switch {
	case err == nil:
		m.cache[key] = issued
		return issued, nil
	case cached == nil:
		return nil, fmt.Errorf("failed to fetch token: %w", err)
	case m.expired(cached):
		return nil, fmt.Errorf("token %s expired and refresh failed: %w", key, err)
	}
	return cached, nil
}

// identity distinguishes tokens: by account, audience, duration and pod.
func identity(account store.Key, asked *authenticationv1.TokenRequest) string {
	life, pod := int64(0), authenticationv1.BoundObjectReference{}
	if asked.Spec.ExpirationSeconds != nil {
		life = *asked.Spec.ExpirationSeconds
	}
	if asked.Spec.BoundObjectRef != nil {
		pod = *asked.Spec.BoundObjectRef
	}
	return fmt.Sprintf("%q/%q/%q/%d/%q/%q", account.Name, account.Namespace, strings.Join(asked.Spec.Audiences, ","), life, pod.Name, pod.UID)
}

// needsRefresh reports whether a token is a day old, or its last fifth has begun. A random jitter
// makes either limit up to ten seconds earlier.
func (m *Manager) needsRefresh(t *authenticationv1.TokenRequest) bool {
	const steps = 16
	jitter := maxJitter * time.Duration(m.kubelet.Kernel.Choose(kernel.Jitter, steps, "token refresh")) / steps
	life := time.Duration(*t.Spec.ExpirationSeconds) * time.Second
	now, expiry := m.kubelet.Kernel.Now(), t.Status.ExpirationTimestamp.Time
	return now.After(expiry.Add(-life+maxAge-jitter)) || now.After(expiry.Add(-life/5-jitter))
}

func (m *Manager) expired(t *authenticationv1.TokenRequest) bool {
	return m.kubelet.Kernel.Now().After(t.Status.ExpirationTimestamp.Time)
}

// sweep drops the tokens that had expired at the end of the last sweep period of a minute. K-PUB-6
func (m *Manager) sweep() {
	now := m.kubelet.Kernel.Now()
	swept := m.started.Add(now.Sub(m.started).Truncate(sweepPeriod))
	// In any order: they are independent.
	for key, t := range m.cache {
		if swept.After(t.Status.ExpirationTimestamp.Time) {
			delete(m.cache, key)
		}
	}
}
