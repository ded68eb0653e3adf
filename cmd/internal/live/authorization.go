package live

import (
	"fmt"
	"io"
	"sync"

	"github.com/csisim/csisim/internal/api/kubeletaccess"
	"github.com/csisim/csisim/internal/api/rbac"
	"github.com/csisim/csisim/sim"
)

// The modes of authorization.
const (
	AlwaysAllow = "none"
	ByRoles     = "rbac"
)

// Authorizations has all modes of authorization.
var Authorizations = []string{AlwaysAllow, ByRoles}

// missingRules collects the rules that service accounts needed and did not have.
type missingRules struct {
	authorizer *rbac.Authorizer // nil if all requests are allowed
	lock       sync.Mutex
	rules      rbac.Missing
}

// authorize makes the cluster's API reject requests that no role allows, if the options require it.
// It prints a line for each kind of rejected request of a service account.
func (o Options) authorize(c *sim.Simulation) (*missingRules, error) {
	missing := &missingRules{}
	if o.Authorization != ByRoles {
		return missing, nil
	}
	missing.authorizer = rbac.New(c.World.Store, func(l rbac.Lack) {
		if missing.add(l) {
			fmt.Fprintf(o.Stderr, "forbidden: service account %s of namespace %s cannot %s\n", l.Account, l.Namespace, l.What())
		}
	})
	authorizer, err := kubeletaccess.New(c.World.Store, missing.authorizer)
	if err != nil {
		return nil, err
	}
	c.API().AuthorizeBy(authorizer)
	return missing, rbac.Reconcile(c.Client())
}

func (m *missingRules) add(l rbac.Lack) (isNew bool) {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.rules.Add(l)
}

// print writes the rules that are still missing when the API has closed. They can be pasted into
// roles.
func (m *missingRules) print(out io.Writer) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.authorizer == nil {
		return nil
	}
	m.rules.DropAllowed(m.authorizer)
	manifest := m.rules.Manifest()
	if manifest == "" {
		return nil
	}
	_, err := fmt.Fprintf(out, "Requests were forbidden. The rules that would allow them:\n%s", manifest)
	return err
}
