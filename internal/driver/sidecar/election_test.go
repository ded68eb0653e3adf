package sidecar_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

var lease = store.Key{Namespace: "kube-system", Name: "lock-of-disk-example-com"}

// replicas are sidecars that work while they lead.
type replicas struct {
	t     *testing.T
	world *component.World
	all   []*sidecar.Program
	lives []*sidecar.Life
	terms []string // "1 at 0s": the leader and the begin of its term
}

func newReplicas(t *testing.T, flags ...sidecar.Flags) *replicas {
	k := kernel.New(kernel.Options{})
	t.Cleanup(k.Close)
	r := &replicas{t: t, world: component.NewWorld(k, store.New(store.Options{Now: k.Now}), trace.NewRecorder(k))}
	election := &sidecar.Election{}
	for i, f := range flags {
		f = f.Beside(sidecar.Target{Replica: i + 1, Pod: fmt.Sprintf("pod-%d", i+1), Election: election})
		r.all = append(r.all, sidecar.Run(r.world, f, func(life *sidecar.Life) *component.Component {
			r.lives = append(r.lives, life)
			c := r.world.Start(f.Called("sidecar"), "")
			c.Go("main", func(p *kernel.Process) {
				life.Lead(p, "lock-of-disk.example.com")
				r.terms = append(r.terms, fmt.Sprintf("%d at %v", i+1, p.Elapsed()))
				p.Wait("work", func() bool { return false })
			})
			return c
		}))
	}
	return r
}

func (r *replicas) at(when time.Duration) {
	r.t.Helper()
	r.world.Kernel.Run(kernel.Until{At: when})
	require.NoError(r.t, r.world.Kernel.Err())
}

func (r *replicas) lease() coordinationv1.LeaseSpec {
	r.t.Helper()
	found, ok := store.Get[*coordinationv1.Lease](r.world.Store, lease)
	require.True(r.t, ok)
	return found.Spec
}

func (r *replicas) give(holder string) {
	_, err := store.Modify(r.world.Store, lease, func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = &holder })
	require.NoError(r.t, err)
}

// C-LIB-4: the lease's name is sanitized; it lasts 15 s and is renewed every 5 s.
func TestOneReplicaLeads(t *testing.T) {
	r := newReplicas(t, sidecar.Flags{}, sidecar.Flags{})
	r.at(12 * time.Minute)
	assert.Equal(t, []string{"1 at 0s"}, r.terms)
	spec := r.lease()
	assert.Equal(t, "pod-1", *spec.HolderIdentity)
	assert.EqualValues(t, 15, *spec.LeaseDurationSeconds)
	assert.EqualValues(t, 0, *spec.LeaseTransitions)
	assert.Equal(t, 12*time.Minute, spec.RenewTime.Sub(spec.AcquireTime.Time))
	changes := 0
	for _, e := range r.world.Trace.Events() {
		if e.Kind == trace.API {
			changes++
		}
	}
	assert.Equal(t, 1, changes, "that the leader lives is no news")
	assert.Equal(t, kernel.Quiet, r.world.Kernel.Run(kernel.Until{StopWhenQuiet: true}), "nor does it keep a run from coming to rest")
}

// C-LIB-4: another replica leads when it has not observed a change of the lease for 15 s. It tries
// every 5 s.
func TestAnotherReplicaTakesOverFromADeadLeader(t *testing.T) {
	r := newReplicas(t, sidecar.Flags{}, sidecar.Flags{})
	r.at(32 * time.Second)
	r.all[0].Crash()
	r.world.Kernel.Run(kernel.Until{StopWhenQuiet: true})
	assert.Equal(t, []string{"1 at 0s", "2 at 50s"}, r.terms, "a run does not come to rest before; that of 30 s was seen at 35 s")
	assert.EqualValues(t, 1, *r.lease().LeaseTransitions)
}

// C-LIB-4: a leader is known by the name of its pod. A restarted container leads again at once.
func TestARestartedLeaderLeadsOn(t *testing.T) {
	r := newReplicas(t, sidecar.Flags{}, sidecar.Flags{})
	r.at(32 * time.Second)
	r.lives[0].Lost()
	r.at(time.Minute)
	assert.Equal(t, []string{"1 at 0s", "1 at 32s"}, r.terms)
	assert.EqualValues(t, 0, *r.lease().LeaseTransitions)
}

// C-LIB-4: a leader that cannot renew its lease within 10 s exits; the other replica waits for the
// lease to expire.
func TestALeaderThatCannotRenewItsLeaseExits(t *testing.T) {
	t.Run("its requests take too long", func(t *testing.T) {
		r := newReplicas(t, sidecar.Flags{Restart: sidecar.RestartNever}, sidecar.Flags{})
		r.at(31 * time.Second)
		r.all[0].SetPace(&component.Pace{Request: 11 * time.Second})
		r.at(44 * time.Second)
		assert.True(t, r.all[0].Running())
		r.at(46 * time.Second)
		assert.False(t, r.all[0].Running(), "it tried from 35 s to 45 s")
		r.at(time.Minute)
		assert.Equal(t, []string{"1 at 0s", "2 at 50s"}, r.terms)
	})
	t.Run("another holds it", func(t *testing.T) {
		r := newReplicas(t, sidecar.Flags{Restart: sidecar.RestartNever})
		r.at(31 * time.Second)
		r.give("stranger")
		r.at(46 * time.Second)
		assert.False(t, r.all[0].Running())
		assert.Equal(t, "stranger", *r.lease().HolderIdentity)
	})
	t.Run("it is deleted", func(t *testing.T) {
		yes := true
		r := newReplicas(t, sidecar.Flags{LeaderElection: &yes})
		r.at(31 * time.Second)
		_, err := store.Delete[*coordinationv1.Lease](r.world.Store, lease)
		require.NoError(t, err)
		r.at(time.Minute)
		assert.Equal(t, []string{"1 at 0s"}, r.terms, "the leader makes it again")
	})
}

// C-LIB-4
func TestLeaderElectionFollowsItsFlags(t *testing.T) {
	no, yes := false, true
	r := newReplicas(t, sidecar.Flags{LeaderElection: &no}, sidecar.Flags{LeaderElection: &no})
	r.at(time.Second)
	assert.Equal(t, []string{"1 at 0s", "2 at 0s"}, r.terms, "both work at once")
	_, ok := store.Get[*coordinationv1.Lease](r.world.Store, lease)
	assert.False(t, ok)

	short := sidecar.Flags{LeaderElection: &yes, LeaseDuration: 6 * time.Second, RenewDeadline: 4 * time.Second, RetryPeriod: 2 * time.Second}
	r = newReplicas(t, short, short)
	r.at(9 * time.Second)
	r.all[0].Crash()
	r.at(time.Minute)
	assert.Equal(t, []string{"1 at 0s", "2 at 16s"}, r.terms)
	assert.Empty(t, short.CheckElection())
	assert.Empty(t, sidecar.Flags{}.CheckElection())
	assert.Equal(t, "leaderElectionLeaseDuration", sidecar.Flags{LeaseDuration: 10 * time.Second}.CheckElection()[0].Field)
	assert.Equal(t, "leaderElectionRenewDeadline", sidecar.Flags{RetryPeriod: 9 * time.Second}.CheckElection()[0].Field)
}
