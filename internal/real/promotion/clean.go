package promotion

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/real/kindcluster"
	"github.com/csisim/csisim/internal/real/realcluster"
	"github.com/csisim/csisim/internal/world/workdir"
	"github.com/csisim/csisim/sim"
)

// Clean deletes the objects that csisim has created on a cluster, by their label. With --on kind
// without a name, it deletes the whole cluster that a killed run has left behind. It returns the
// deleted things.
func Clean(ctx context.Context, o TargetOptions) (deleted []string, err error) {
	t := &Target{options: o}
	name, isKind := o.IsKind()
	if !isKind {
		if err := t.openKubeconfig(ctx); err != nil {
			return nil, err
		}
		deleted, recordsOn, err := realcluster.Clean(ctx, t.config)
		if err == nil && len(recordsOn) > 0 {
			err = &sim.EnvironmentError{Doing: "remove the records of calls", Err: fmt.Errorf("no proxy answers on %s: delete %s/records there", strings.Join(recordsOn, ", "), deploy.State)}
		}
		return deleted, err
	}
	if t.work, err = workdir.New(o.WorkDir); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.work.Close()) }()
	t.kind, err = kindcluster.Find(kindcluster.Options{Name: name, Kubeconfig: filepath.Join(t.work.Path(), "kubeconfig")})
	switch {
	case err != nil:
		return nil, err
	case t.kind == nil && name != "":
		return nil, &sim.ConfigError{Subject: "--on " + o.On, Problem: fmt.Sprintf("kind has no cluster %q", name)}
	case t.kind == nil:
		return nil, nil
	}
	if err := t.connect(); err != nil {
		return nil, err
	}
	if name != "" {
		deleted, _, err := realcluster.Clean(ctx, t.config)
		if err == nil {
			err = t.kind.RunOnAll(ctx, "sh", "-c", "rm -rf "+deploy.State+"/records/*")
		}
		return deleted, err
	}
	return t.deleteKind(ctx)
}

// deleteKind deletes the cluster if it is csisim's.
func (t *Target) deleteKind(ctx context.Context) ([]string, error) {
	ours, err := t.isMarked(ctx)
	if err != nil || !ours {
		why := "csisim did not make it, or was killed before it was up"
		if err != nil {
			why = err.Error()
		}
		return nil, &sim.ConfigError{Subject: fmt.Sprintf("kind cluster %q", t.kind.Name()), Problem: fmt.Sprintf("%s: delete it with 'kind delete cluster --name %s'", why, t.kind.Name())}
	}
	if err := t.removeShared(); err != nil {
		return nil, err
	}
	return []string{"kind cluster " + t.kind.Name()}, nil
}
