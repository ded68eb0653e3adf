package promotion

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/csisim/csisim/cmd/internal/kindcluster"
	"github.com/csisim/csisim/cmd/internal/realcluster"
	"github.com/csisim/csisim/sim"
)

// Clean deletes what csisim has made on a cluster: all that bears its label; a kind cluster without a name as a whole,
// which is what a run that was killed leaves. It returns what it has deleted.
func Clean(ctx context.Context, o TargetOptions) (deleted []string, err error) {
	t := &Target{options: o}
	name, isKind := o.IsKind()
	if !isKind {
		if err := t.openKubeconfig(ctx); err != nil {
			return nil, err
		}
		return realcluster.Clean(ctx, t.config)
	}
	if t.dir, err = os.MkdirTemp(o.WorkDir, "csisim-on-"); err != nil {
		return nil, &sim.EnvironmentError{Doing: "make a directory for a kubeconfig", Err: err}
	}
	defer func() { err = errors.Join(err, os.RemoveAll(t.dir)) }()
	t.kind, err = kindcluster.Find(kindcluster.Options{Name: name, Kubeconfig: filepath.Join(t.dir, "kubeconfig")})
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
		return realcluster.Clean(ctx, t.config)
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
	if err := t.kind.Delete(); err != nil {
		return nil, err
	}
	return []string{"kind cluster " + t.kind.Name()}, nil
}
